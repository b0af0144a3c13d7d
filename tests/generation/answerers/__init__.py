"""Ways to ask models: tiny real models, and an invented one."""
