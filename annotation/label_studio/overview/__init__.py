"""What leads see about Label Studio: counts, rows, version history and advice."""
