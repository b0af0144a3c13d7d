"""Our database engines, statements written by hand, and how outages are logged."""
