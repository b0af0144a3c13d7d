"""Tests of campaigns labelled in Label Studio."""
