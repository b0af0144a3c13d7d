"""The pages of jobs, and the metrics that Prometheus reads."""
