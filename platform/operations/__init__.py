"""What the operator of a server does: backups, restoring them, checking them."""
