"""What an annotator sees: no study, campaign, group, prompt, condition or role is named here."""
