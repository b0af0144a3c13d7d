"""Pages for leads: panels, recruitments, places and decisions about them."""
