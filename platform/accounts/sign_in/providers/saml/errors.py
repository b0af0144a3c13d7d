"""Errors in an identity provider's metadata or answer."""


class MetadataError(Exception):
    """Our metadata or the provider’s cannot be used. The text is a sentence for administrators."""


class AnswerRefused(Exception):
    """An answer that failed a check. The text is a code for the log and quotes nothing of the answer."""


class SignInDeclined(Exception):
    """The provider itself reports that it signed nobody in."""
