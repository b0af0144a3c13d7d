"""The plots of a study, each made from the rows of one table."""
