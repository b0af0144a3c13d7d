"""Names, spellings and codes of what people say of themselves."""
