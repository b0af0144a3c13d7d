"""Which profiles a release may show: coarse values, k-anonymity, earlier releases."""
