"""The REST API of campaigns and annotation."""
