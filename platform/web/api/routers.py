"""A router whose addresses work with and without a trailing slash."""

from typing import Any

from django.urls import URLPattern, URLResolver, path
from rest_framework.routers import DynamicRoute, SimpleRouter


class TwinRouter(SimpleRouter):
    """Serves each address with and without a trailing slash, because a redirect would lose the body of a POST.

    The schema lists one of the two: with a slash for lists and objects, and as in `url_path` for actions.
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
