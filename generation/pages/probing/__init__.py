"""The lead's pages of probe runs and of the models' answers."""
