"""Parts shared by all REST endpoints: errors, pagination, parsers and content negotiation."""
