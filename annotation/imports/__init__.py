"""Import of existing labels: any table of judgements, and the released ViSAGe study."""
