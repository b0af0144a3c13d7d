"""Planning a campaign: attributes and images drawn from its seed, and the expected time."""
