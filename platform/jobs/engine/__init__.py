"""The queue engines, the workers that serve them, and the leases workers hold on jobs."""
