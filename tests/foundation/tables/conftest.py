"""Hand-written workbooks for tests, because no library that is installed everywhere writes them."""

from tests.foundation.tables.workbooks import workbook

__all__ = ["workbook"]
