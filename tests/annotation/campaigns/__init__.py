"""Tests of campaigns: life cycle, planning, instruments and changes."""
