"""How a job reports its progress, its pace and its log."""
