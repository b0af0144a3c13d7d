"""A lead's pages of annotators: their answers, invitations, pay and own words."""
