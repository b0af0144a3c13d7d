"""The pages of jobs, and metrics for Prometheus."""
