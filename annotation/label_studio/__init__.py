"""Labels in Label Studio's JSON: ours written as its tasks, its export read as rows. Nothing here talks to a server."""
