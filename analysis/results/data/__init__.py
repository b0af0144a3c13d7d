"""What results are computed from, as read from the database."""
