"""What annotators answered on scales and by choosing: means and shares of several items."""
