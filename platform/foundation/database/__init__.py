"""Database engines, hand-written statements, and the logging of outages."""
