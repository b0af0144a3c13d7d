"""How people sign in, by django-allauth; docs/develop/decisions/ says what is left to it and what is not."""
