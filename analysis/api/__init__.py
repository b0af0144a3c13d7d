"""Results, releases and scores over HTTP."""
