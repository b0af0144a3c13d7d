"""An invented model whose bias is planted: demo and tests need no weights, and the truth is known."""
