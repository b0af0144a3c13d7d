"""What pages and the report say of models' answers to probes."""
