"""The checklist that a campaign must pass before it opens, and waivers of its checks, each with a reason."""
