"""Generation runs: estimated, planned, launched, executed by one job or several."""
