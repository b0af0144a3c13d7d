"""Import of labels made elsewhere: any table of judgements, and the released ViSAGe study."""
