"""Generation runs: estimates, planning, and execution by one or several jobs."""
