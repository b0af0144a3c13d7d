"""An invented model with planted bias: demo and tests need no weights, and the truth is known."""
