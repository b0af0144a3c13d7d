"""A lead's pages: campaigns, the people who annotate, and the quality of their work."""
