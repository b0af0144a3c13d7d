"""What each kind of campaign declares: default words, options, public names and standard rules."""
