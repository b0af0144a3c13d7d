"""croissant.json: the release as Croissant 1.1 with its responsible-AI fields (mlcommons.org/croissant)."""

import json
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from analysis.releases.contents import Column, Contents, ReleasedFile, ReleaseTable
from analysis.releases.documents.croissant_rai import responsible_ai
from analysis.releases.documents.data_card import INVENTED, SIMULATED, summary
from analysis.releases.documents.data_card_use import citation_entry
from analysis.releases.documents.front_matter import loadable, read_format, tags
from analysis.releases.documents.licences import licence_of
from annotation.kinds.registry import kind_of

CONFORMS_TO = ("http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0")
# The context of the specification, appendix 1; readers warn about any other.
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "name": {"@container": "@language"},
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_ENCODINGS = {
    ".parquet": "application/x-parquet",
    ".csv": "text/csv",
    ".jsonl": "application/jsonlines",
    ".json": "application/json",
    ".xml": "application/xml",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".webp": "image/webp",
}
_TYPES = {
    "string": "sc:Text",
    "boolean": "sc:Boolean",
    "integer": "sc:Integer",
    "number": "sc:Float",
    "date": "sc:Date",
}
# References of columns to other tables: the table and its key.
_REFERENCES = {
    "image": ("images", "image"),
    "annotator": ("annotators", "annotator"),
    "annotation": ("annotations", "annotation"),
    "judgement": ("judgements", "judgement"),
    "answer": ("answers", "answer"),
    "scorer": ("scorers", "scorer"),
    "captioned_by": ("scorers", "scorer"),
    "probe_run": ("probe_runs", "probe_run"),
    "probe_answer": ("probe_answers", "probe_answer"),
}
_KEYS = {
    "judgements": ("judgement",),
    "boxes": ("box",),
    "ratings": ("annotation", "attribute"),
    "annotations": ("annotation",),
    "annotators": ("annotator",),
    "images": ("image",),
    "soft_labels": ("kind", "image", "attribute"),
    "associations": ("identity_group", "attribute"),
    "questions": ("campaign", "question"),
    "options": ("campaign", "question", "code"),
    "stimuli": ("task", "position"),
    "answers": ("answer",),
    "probe_runs": ("probe_run",),
    "probe_answers": ("probe_answer",),
    "codings": ("coding",),
    "word_associations": ("model", "setting", "dimension", "descriptor", "word"),
    "scorers": ("scorer",),
    "attribute_scores": ("scorer", "image", "attribute"),
    "captions": ("scorer", "image", "position"),
    "text_scores": ("scorer", "captioned_by", "image", "position", "label"),
}
# Formats that mlcroissant 1.1.1 opens.
_READ_AS_PICTURES = {"image/png", "image/jpeg"}
PICTURES, PICTURE_FILES = "pictures", "picture-files"
_IMAGES = "images"


def croissant_json(contents: Contents) -> str:
    """Return croissant.json."""
    return json.dumps(_dataset(contents), ensure_ascii=False, indent=2) + "\n"


def _dataset(contents: Contents) -> dict[str, Any]:
    study = contents.study
    licence = licence_of(contents.parameters.licence)
    published = {"datePublished": str(contents.last_day)} if contents.last_day else {}
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": list(CONFORMS_TO),
        "name": f"{study.slug}-release-{contents.version}",
        "alternateName": f"{study.name}, release {contents.version}",
        "description": _description(contents),
        "version": f"{contents.version}.0.0",
        "url": f"urn:sha256:{contents.inputs_digest}",
        "license": licence.url or licence.name,
        "citeAs": citation_entry(contents),
        "creator": {"@type": "sc:Organization", "name": f"Owners of the study “{study.name}”"},
        "inLanguage": "en",
        "isLiveDataset": False,
        "keywords": tags(contents),
        **published,
        **responsible_ai(contents),
        "distribution": [*_files(contents), *_pictures(contents)],
        "recordSet": [*_tables(contents), *_picture_records(contents)],
    }


def _description(contents: Contents) -> str:
    study = contents.study
    parts = [SIMULATED.replace("*", "") if study.simulated else "", INVENTED if study.invented else ""]
    return " ".join(part for part in (*parts, study.description, summary(contents).replace("`", "")) if part)


def _is_picture(file: ReleasedFile) -> bool:
    return file.path.parts[0] == _IMAGES


def _files(contents: Contents) -> list[dict[str, Any]]:
    return [
        {
            "@type": "cr:FileObject",
            "@id": str(file.path),
            "name": str(file.path),
            "contentUrl": str(file.path),
            "contentSize": f"{file.bytes} B",
            "encodingFormat": _ENCODINGS.get(file.path.suffix, "text/plain"),
            "sha256": file.sha256,
        }
        for file in contents.files
        if not _is_picture(file)
    ]


def _picture_suffixes(contents: Contents) -> list[str]:
    return sorted({file.path.suffix for file in contents.files if _is_picture(file)} & _ENCODINGS.keys())


def _pictures(contents: Contents) -> list[dict[str, Any]]:
    suffixes = _picture_suffixes(contents)
    if not suffixes:
        return []
    formats = [_ENCODINGS[suffix] for suffix in suffixes]
    patterns = [f"{_IMAGES}/*{suffix}" for suffix in suffixes]
    return [
        {
            "@type": "cr:FileSet",
            "@id": PICTURE_FILES,
            "name": PICTURE_FILES,
            "description": "The pictures; checksums.sha256 has the digest of each.",
            "encodingFormat": formats[0] if len(formats) == 1 else formats,
            "includes": patterns[0] if len(patterns) == 1 else patterns,
        }
    ]


def _tables(contents: Contents) -> list[dict[str, Any]]:
    file_format = read_format(contents)
    if file_format is None:
        return []
    # Readers join columns that refer to another table, which fails if the table is empty.
    table_paths = {
        release_table.name: release_table.files[file_format]
        for release_table in contents.tables
        if release_table.rows
    }
    paths = {PurePosixPath(file.path) for file in contents.files}
    imageless = _imageless(contents)
    return [
        _record_set(
            release_table,
            release_table.files[file_format],
            _without_images(table_paths) if release_table.name in imageless else table_paths,
        )
        for release_table in loadable(contents)
        if PurePosixPath(release_table.files[file_format]) in paths
    ]


def _imageless(contents: Contents) -> set[str]:
    """Tables whose column `image` is empty: mlcroissant 1.1.1 treats it as numbers and cannot join with it."""
    if not contents.question_campaigns:
        return set()
    names = set() if contents.table("judgements").rows else {"annotations"}
    shown = (campaign for campaign in contents.question_campaigns if campaign.annotations)
    return (
        names
        if any(kind_of(campaign).stimuli.medium == "image" for campaign in shown)
        else {*names, "stimuli"}
    )


def _without_images(table_paths: Mapping[str, str]) -> Mapping[str, str]:
    return {name: path for name, path in table_paths.items() if name != _IMAGES}


def _record_set(release_table: ReleaseTable, path: str, table_paths: Mapping[str, str]) -> dict[str, Any]:
    columns = {column.name for column in release_table.columns}
    keys = [
        {"@id": f"{release_table.name}/{name}"}
        for name in _KEYS.get(release_table.name, ())
        if name in columns
    ]
    return {
        "@type": "cr:RecordSet",
        "@id": release_table.name,
        "name": release_table.name,
        "description": release_table.description,
        **({"key": keys[0] if len(keys) == 1 else keys} if keys else {}),
        "field": [_field(release_table, column, path, table_paths) for column in release_table.columns],
    }


def _field(
    release_table: ReleaseTable, column: Column, path: str, table_paths: Mapping[str, str]
) -> dict[str, Any]:
    field: dict[str, Any] = {
        "@type": "cr:Field",
        "@id": f"{release_table.name}/{column.name}",
        "name": column.name,
        "description": _meaning(column),
        "dataType": _TYPES[column.type],
        "source": {"fileObject": {"@id": path}, "extract": {"column": column.name}},
    }
    table, key = _REFERENCES.get(column.name, ("", ""))
    if table in table_paths and table != release_table.name:
        # Of the file and not of the other record set: mlcroissant 1.1.1 takes the short form for nothing, and
        # joins with a record set that was read before as if it were empty.
        field["references"] = {"fileObject": {"@id": table_paths[table]}, "extract": {"column": key}}
    return field


def _meaning(column: Column) -> str:
    values = "; ".join(f"{value}: {meaning}" for value, meaning in (column.values or {}).items())
    return f"{column.description}. {values}" if values else column.description


def _picture_records(contents: Contents) -> list[dict[str, Any]]:
    formats = {_ENCODINGS[suffix] for suffix in _picture_suffixes(contents)}
    # Readers refuse records of pictures they cannot open; the table images names each file all the same.
    if not formats or not formats <= _READ_AS_PICTURES:
        return []
    source = {"fileSet": {"@id": PICTURE_FILES}}
    return [
        {
            "@type": "cr:RecordSet",
            "@id": PICTURES,
            "name": PICTURES,
            "description": "one record per image file; `file` ends with the path of the file in the table images",
            "field": [
                {
                    "@type": "cr:Field",
                    "@id": f"{PICTURES}/file",
                    "name": "file",
                    "description": "name of the file",
                    "dataType": "sc:Text",
                    "source": source | {"extract": {"fileProperty": "filename"}},
                },
                {
                    "@type": "cr:Field",
                    "@id": f"{PICTURES}/content",
                    "name": "content",
                    "description": "the picture",
                    "dataType": "sc:ImageObject",
                    "source": source | {"extract": {"fileProperty": "content"}},
                },
            ],
        }
    ]
