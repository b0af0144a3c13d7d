"""The questions of a declared kind in Label Studio: their controls, the stimuli beside them, and the answers."""
