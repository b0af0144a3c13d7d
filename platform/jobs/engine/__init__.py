"""The queue engines, their workers, and the workers' leases on jobs."""
