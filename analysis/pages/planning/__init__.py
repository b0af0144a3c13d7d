"""Pages of a study’s plan and its preregistrations."""
