"""The tables of a release with models' answers to probe sets."""
