"""From labels to numbers: measures, scores of images, results, plots and releases."""
