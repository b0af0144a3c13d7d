"""The error format of the API: `{"error": {"code", "message", "fields"}}`.

Every command imports this module through the middleware, so it does not import REST framework.
"""

from typing import Any


def error_body(code: str, message: str, fields: dict[str, str]) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "fields": fields}}
