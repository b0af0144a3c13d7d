"""Image files: decoding, storage, re-encoding, signed addresses and the contact sheet."""
