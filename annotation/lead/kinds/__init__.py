"""A lead's pages of kinds of campaign: those of a study, and the form that declares one."""
