"""The error format of the API: `{"error": {"code", "message", "fields"}}`.

For middleware, too, which every command loads, so this module does not import the REST framework.
"""

from typing import Any


def error_body(code: str, message: str, fields: dict[str, str]) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "fields": fields}}
