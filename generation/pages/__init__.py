"""The pages of a study's images, generation runs and imports."""
