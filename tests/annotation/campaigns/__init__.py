"""Tests of campaigns: life cycle, planning, instruments, notices and changes."""
