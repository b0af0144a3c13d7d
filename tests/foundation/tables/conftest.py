"""Workbooks for tests, written by hand: nothing that is installed everywhere writes them."""

from tests.foundation.tables.workbooks import workbook

__all__ = ["workbook"]
