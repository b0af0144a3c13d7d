"""The tables that measures take, and the result that every measure returns."""
