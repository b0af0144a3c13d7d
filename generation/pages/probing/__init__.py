"""The lead's pages of questions to models: probe runs, and what the models answered."""
