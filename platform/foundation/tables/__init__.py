"""Reading tables as text: CSV, TSV, JSON lines and Excel."""
