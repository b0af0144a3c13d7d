"""Measures of annotators' marks: likelihood, tendency, offensiveness, and how they change."""
