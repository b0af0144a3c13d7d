"""Tests of the whole repository, and the commands behind `make test` and `make lint`."""
