"""Tests of invitations, pay and consent."""
