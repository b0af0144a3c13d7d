"""Formats of dates and times on English pages. Other languages use Django's formats."""

DATE_FORMAT = "j M Y"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = "j M Y, H:i"
