"""Pages of studies: the list, one study’s overview and stages, members, consent and history."""
