"""Labels made from the annotations that were read from Label Studio."""
