"""From prompts to images and from probe sets to answers: runs, models, imports."""
