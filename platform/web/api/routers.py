"""The router of addresses that work with and without a slash at their end."""

from typing import Any

from django.urls import URLPattern, URLResolver, path
from rest_framework.routers import DynamicRoute, SimpleRouter


class TwinRouter(SimpleRouter):
    """Serves each address with and without the last slash, because a redirect would lose a POST.

    The schema lists one form: lists and objects end with a slash, and actions do if their `url_path` ends with one.
    """

    routes = [
        route._replace(
            url=route.url.replace("{trailing_slash}", "" if isinstance(route, DynamicRoute) else "/")
        )
        for route in SimpleRouter.routes
    ]

    def __init__(self) -> None:
        super().__init__(use_regex_path=False)

    def get_urls(self) -> list[URLPattern | URLResolver]:
        return [pattern for listed in super().get_urls() for pattern in (listed, _twin(listed))]


def _twin(listed: Any) -> URLPattern:
    route = str(listed.pattern)
    view = listed.callback
    twin: URLPattern = path(
        route.removesuffix("/") if route.endswith("/") else f"{route}/",
        view.cls.as_view(dict(view.actions), **view.initkwargs | {"schema": None}),
    )
    return twin
