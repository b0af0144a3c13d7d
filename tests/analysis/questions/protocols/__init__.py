"""Published protocols as declarations, one file each, and a test that simulated people's planted truth is found again.

Wordings are ours and harmless; the description of each kind cites its source.
"""
