"""Labels made elsewhere come in: any table of judgements, and the released ViSAGe study."""
