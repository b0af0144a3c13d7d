"""What a campaign needs before people are asked: a checklist that can refuse, and waivers with a reason."""
