"""What is wrong with an identity provider's metadata or with its answer."""


class MetadataError(Exception):
    """Our metadata or the provider’s cannot be used. The text is a sentence for administrators."""


class AnswerRefused(Exception):
    """An answer that we do not believe. The text is a code for the log and quotes nothing of the answer."""


class SignInDeclined(Exception):
    """The provider itself says that it signed nobody in."""
