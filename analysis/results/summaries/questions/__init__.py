"""Summaries of each declared question: tables of estimates with intervals, some with a plot."""
