"""The setup of a study: its groups, attribute roles, totals and frozen copies."""
