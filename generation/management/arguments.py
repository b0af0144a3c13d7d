"""Arguments of commands that query models."""

import argparse
import json
from decimal import Decimal, InvalidOperation
from typing import Any

from foundation.errors import DomainError, NotFound
from studies.models import Study


def add_parameters_argument(parser: argparse.ArgumentParser, *, help: str) -> None:
    """Add `--param NAME=VALUE`, whose values `parameters` reads."""
    parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help=help)


def parameters(pairs: list[str]) -> dict[str, Any]:
    """Return the parameters of --param NAME=VALUE."""
    values: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise DomainError("parameter_invalid", f"Write --param as NAME=VALUE, not “{pair}”.")
        # A number, a list or an object is read as such; anything else is text.
        try:
            values[name] = json.loads(value)
        except ValueError:
            values[name] = value
    return values


def positive(text: str) -> int:
    """Read a whole number of at least 1."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def amount(text: str) -> Decimal:
    """Read an amount of money."""
    try:
        money = Decimal(text)
    except InvalidOperation:
        money = Decimal("NaN")
    if not money.is_finite() or money < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not an amount of money")
    return money


def find_study(name: str) -> Study | None:
    """Return the study of this name or slug."""
    return Study.objects.filter(name=name).first() or Study.objects.filter(slug=name).first()


def study_named(name: str) -> Study:
    """Return the study of this name or slug; raise NotFound if there is none."""
    study = find_study(name)
    if study is None:
        raise NotFound("study_not_found", f"There is no study “{name}”.")
    return study
