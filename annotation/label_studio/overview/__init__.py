"""What a lead is shown about Label Studio: counts, rows, version history and advice."""
