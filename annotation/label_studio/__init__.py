"""Label Studio: campaigns that are labelled in a Label Studio server, and files in its JSON format."""

SLUG = "label_studio"  # in `Campaign.labelled_in`
