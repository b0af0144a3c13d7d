"""Whether every database can store a text."""


def is_text(text: str) -> bool:
    """Return whether every database can store `text`: JSON may contain NUL characters and halves of characters."""
    return not any(character == "\0" or "\ud800" <= character <= "\udfff" for character in text)
