"""What every REST endpoint shares: errors, pagination, parsers and content negotiation."""
