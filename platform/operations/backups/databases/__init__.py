"""The database of this server: a view of one moment to back up, and an empty one to restore into."""
