"""The study of invented peoples that `make demo` opens."""
