"""What is stored about an annotator, for their own eyes: the page “Your data” and the file to download."""
