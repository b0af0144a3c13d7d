"""Pages that span apps: the landing page, health checks, a study's overview and stages."""
