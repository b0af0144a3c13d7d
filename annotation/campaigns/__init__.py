"""Campaigns: their life cycle, planning, instruments and progress."""
