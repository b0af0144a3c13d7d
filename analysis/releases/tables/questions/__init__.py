"""Tables of campaigns with declared questions: questions, stimuli and answers."""
