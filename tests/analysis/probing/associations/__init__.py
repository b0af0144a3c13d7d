"""Words that models associate with descriptors, from replies to pages."""
