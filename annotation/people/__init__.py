"""Annotators in a campaign: invitations, enrolments, pay, and withdrawal of consent."""
