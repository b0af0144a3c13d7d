"""Secrets of other servers, stored encrypted in our database with a key that is not in it."""

from functools import partial

from foundation import encryption

_USE = "stereoscope label studio"
seal = partial(encryption.seal, use=_USE)
unseal = partial(encryption.unseal, use=_USE)
