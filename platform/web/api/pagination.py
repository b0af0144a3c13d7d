"""Pagination of the lists of the API."""

from rest_framework.pagination import CursorPagination


class IdCursorPagination(CursorPagination):
    """Pagination by primary key, stable while rows are added."""

    ordering = "-pk"
    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 500
