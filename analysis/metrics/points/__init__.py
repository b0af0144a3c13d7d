"""Points that annotators placed on images."""
