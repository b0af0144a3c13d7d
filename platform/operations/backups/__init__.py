"""Backups: `create.backup`, `restore.restore` and `verify.verify`, on folders that `folder` lays out."""
