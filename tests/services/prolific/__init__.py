"""A stand-in for Prolific: a real HTTP process with its documented states, money, clock, events and faults."""
