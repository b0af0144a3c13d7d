"""The design system and what pages and the API of all apps share: templates, scripts, forms, tables."""
