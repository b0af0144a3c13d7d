"""Tables that people upload: CSV, TSV, JSON lines and Excel, read as text or refused."""
