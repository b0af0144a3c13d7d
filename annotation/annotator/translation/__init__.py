"""Words for annotators that have to be translated: of scripts, and of refusals."""
