"""The database of this server: a consistent view to back up, and an empty database to restore into."""
