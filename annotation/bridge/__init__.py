"""A campaign labelled in a Label Studio server: what is pushed there, what is seen there, and the labels made of it."""
