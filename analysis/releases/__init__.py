"""Dataset releases: a study's labels as versioned folders that others can load."""

from analysis.releases.build_job import JOB_KIND, request, running_job

__all__ = ["JOB_KIND", "request", "running_job"]
