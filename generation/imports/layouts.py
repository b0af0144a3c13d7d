"""Layouts: descriptions of images derived from their folders."""

import re
from collections.abc import Callable
from pathlib import PurePosixPath

from generation.imports.entries import Entry
from generation.imports.sources import Source


def groups_layout(source: Source) -> list[Entry]:
    """Read `<group>/<file>`. Subfolders belong to their group; a single top folder around all groups is ignored."""
    names = source.names()
    paths = [PurePosixPath(name).parts for name in names]
    start = (
        1
        if paths and len({parts[0] for parts in paths}) == 1 and all(len(parts) > 2 for parts in paths)
        else 0
    )
    entries = []
    for name, parts in zip(names, paths, strict=True):
        problem = "" if len(parts) > start + 1 else "the file is not in a group's folder"
        entries.append(
            Entry(name=name, where=name, group=parts[start] if not problem else "", problem=problem)
        )
    return entries


def pairs_layout(source: Source) -> list[Entry]:
    """Read the PAIRS tree `<experiment>/<scenario>/<variant>.<suffix>`, whose groups are the variants."""
    names = source.names()
    variants = {PurePosixPath(name).stem for name in names}
    entries = []
    for name in names:
        parts = PurePosixPath(name).parts
        if len(parts) < 3:
            entries.append(
                Entry(name=name, where=name, problem="the path is not <experiment>/<scenario>/<variant>")
            )
            continue
        stem = PurePosixPath(name).stem
        # One released file is named white_man1.png; in all other scenarios it is white_man.png.
        variant = re.sub(r"\d+$", "", stem)
        variant = variant if variant in variants else stem
        entries.append(
            Entry(
                name=name,
                where=name,
                group=variant,
                experiment=parts[-3],
                scenario=parts[-2],
                factors=factors_of(variant),
                provenance={"experiment": parts[-3], "scenario": parts[-2], "variant": variant},
                repaired=f"variant “{stem}” read as “{variant}”" if variant != stem else "",
            )
        )
    return entries


def factors_of(variant: str) -> dict[str, str]:
    """Return the factors of a PAIRS variant named `<race>_<gender>`; an empty dict for other names."""
    race, _, gender = variant.rpartition("_")
    return {"race": race, "gender": gender} if race and gender in {"man", "woman"} else {}


LAYOUTS: dict[str, Callable[[Source], list[Entry]]] = {"groups": groups_layout, "pairs": pairs_layout}
