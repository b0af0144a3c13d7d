"""Results of answers that models gave to the questions of a probe set."""
