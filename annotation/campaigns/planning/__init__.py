"""What a campaign will ask: attributes and images drawn from its seed, and the time this takes."""
