"""Backups: `create.backup`, `restore.restore` and `verify.verify`, on the folders of `folder`."""
