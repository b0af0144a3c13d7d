"""Words that models associate with descriptors."""
