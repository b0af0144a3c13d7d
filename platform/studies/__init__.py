"""Studies, their protocols, members and history."""
