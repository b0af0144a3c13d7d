"""Names, spellings and codes for people's details about themselves."""
