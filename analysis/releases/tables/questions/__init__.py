"""Tables of campaigns of declared questions: what was asked, what was shown, what was answered."""
