"""Which annotator each user of a Label Studio server is."""
