"""Annotators' answers on scales and to choices: means and shares of several items."""
