"""Sign-in, password and account pages."""
