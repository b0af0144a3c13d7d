"""Asking a run's questions step by step, with recovery from interruptions."""

from generation.probing.execution.run import ProbeResult, ended, reopen_failed, run

__all__ = ["ProbeResult", "ended", "reopen_failed", "run"]
