"""A run's questions are asked, step by step, whatever happens in between."""

from generation.probing.execution.run import ProbeResult, ended, reopen_failed, run

__all__ = ["ProbeResult", "ended", "reopen_failed", "run"]
