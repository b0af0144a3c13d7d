"""The tables of the results, each computed from the data of a study."""
