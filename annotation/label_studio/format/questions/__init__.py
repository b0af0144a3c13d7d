"""Questions that a kind declares, in Label Studio: their controls, what is shown beside them, what was answered."""
