"""Which text can be stored."""


def is_text(text: str) -> bool:
    """Return whether every database can hold `text`: JSON may spell NUL characters and half of a character."""
    return not any(character == "\0" or "\ud800" <= character <= "\udfff" for character in text)
