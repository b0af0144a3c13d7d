"""Quality of annotators' work: measures, rules, and the warnings and pauses they cause."""
