"""Work that takes longer than a page request: jobs, the engines that run them, and their pages."""
