"""Images that annotators reported, and images that a lead retracted."""
