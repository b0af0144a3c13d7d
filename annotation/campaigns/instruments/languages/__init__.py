"""A campaign in several languages: its texts, their human translations, and in which languages it is offered."""
