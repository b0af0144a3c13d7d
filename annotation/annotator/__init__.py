"""Pages for annotators. They name no study, campaign, group, prompt, condition or role."""
