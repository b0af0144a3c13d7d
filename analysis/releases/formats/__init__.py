"""The file formats of a release: Parquet, CSV, JSON Lines, COCO and Label Studio."""
