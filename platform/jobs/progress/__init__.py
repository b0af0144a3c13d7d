"""Progress, rate and log of a job."""
