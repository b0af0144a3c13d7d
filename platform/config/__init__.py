"""Settings, addresses of the whole site, and entry points of its servers."""
