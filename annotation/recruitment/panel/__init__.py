"""Pages for people from a panel, before the first screen and after the last. No address contains their ids."""
