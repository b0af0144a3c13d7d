"""Pages for leads: panels, recruitments, places and what is decided about them."""
