"""Published protocols as declarations, one file each, and a test that recovers the planted truth of simulated people.

Wordings are ours and harmless; the description of each kind cites its source.
"""
