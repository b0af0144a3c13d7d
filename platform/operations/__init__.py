"""Tools for the operator of a server: backups, restores and their verification."""
