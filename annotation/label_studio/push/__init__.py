"""Sending to Label Studio: projects, tasks, guidelines, images and webhook subscriptions."""
