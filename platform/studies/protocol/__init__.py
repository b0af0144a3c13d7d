"""How a study is set up: its groups, attribute roles, totals, and what it freezes."""
