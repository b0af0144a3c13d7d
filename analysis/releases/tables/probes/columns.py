"""The tables of models' answers to probe sets, and their columns in order."""

from collections.abc import Mapping

from analysis.releases.contents import Column
from generation.models import Answer, Coding, ProbeRun

_OUTCOMES = {
    "done": "the model answered; its answer may be a refusal",
    "declined": "the endpoint's filter declined the question or cut the answer",
    "failed": "the model sent no answer",
}
_CODERS = {
    "rules": "the rules in docs/use/reference/probing.md, in the version of the column version",
    "model": "a model",
    "person": "an annotator",
    "override": "a lead, with a reason; this coding counts instead of all others",
}
_RUN = Column("probe_run", "integer", "number of the probe run; see the table probe_runs")
_ANSWER = Column("probe_answer", "integer", "number of the answer; see the table probe_answers")
_MODEL = Column("model", "string", "name of the model that answered, as in the results")
_MODEL_ID = Column("model_id", "string", "id of the model that answered; empty if it is unknown", True)
_REVISION = Column(
    "revision", "string", "revision of the model, or digest of its files; empty if unknown", True
)
_PROBE_SET = Column("probe_set", "string", "name of the probe set; the folder probe_sets has its questions")
TEXT = Column(
    "text",
    "string",
    "the model's answer, unchanged. In CSV files, an apostrophe is added before text that a spreadsheet would run "
    "as a formula, and before text that already begins with such an apostrophe: remove the first apostrophe to get "
    "the answer",
    exact=True,
)

COLUMNS: Mapping[str, tuple[Column, ...]] = {
    "probe_runs": (
        _RUN,
        _MODEL,
        _MODEL_ID,
        _REVISION,
        Column(
            "backend", "string", "how the model was asked; imported means that the answers were made elsewhere"
        ),
        _PROBE_SET,
        Column("probe_set_digest", "string", "SHA-256 of the questions as canonical JSON"),
        Column(
            "parameters",
            "string",
            "parameters of the requests, as JSON, without parts of addresses and folders that name a "
            "machine or an account",
        ),
        Column("repeats", "integer", "number of times that each question was asked"),
        Column(
            "orders",
            "string",
            "order in which the questions named the options",
            values={value: str(label) for value, label in ProbeRun.Orders.choices},
        ),
        *(Column(name, "integer", f"number of answers with the outcome {name}") for name in _OUTCOMES),
        Column("pending", "integer", "number of planned questions that were not asked; they are not in the "
        "table probe_answers"),
    ),
    "probe_answers": (
        _ANSWER,
        _RUN,
        _MODEL,
        _MODEL_ID,
        _REVISION,
        _PROBE_SET,
        Column("experiment", "string", "experiment of the question"),
        Column("question", "string", "name of the question in the probe set"),
        Column("scenario", "string", "scenario of the image; empty if the experiment has no scenarios", True),
        Column("image", "string", "id of the image; see the table images; empty if the question was not "
        "about an image", True),
        Column("identity_group", "string", "identity group that the image shows or the sentence is about"),
        Column("letter", "string", "first letter that the question asked for; empty if it asked for none", True),
        Column(
            "order",
            "string",
            "order of the options; empty if the question has no options",
            True,
            values={value: str(label) for value, label in Answer.Order.choices if value},
        ),
        Column("repeat", "integer", "number of the answer among the answers to the same question, from 1"),
        Column("temperature", "number", "temperature of the request; empty if unknown", True),
        Column("outcome", "string", "how the request ended", values=_OUTCOMES),
        TEXT,
        Column("finish_reason", "string", "why the answer ended, according to the endpoint; empty if it did "
        "not say", True),
        Column("served_model", "string", "model that the endpoint named in its reply; empty if it named none", True),
        Column("fingerprint", "string", "fingerprint of the model that the endpoint named; empty if it sent "
        "none", True),
        Column("tokens_in", "integer", "number of tokens in the request; empty if the endpoint did not say", True),
        Column("tokens_out", "integer", "number of tokens in the answer; empty if the endpoint did not say", True),
        Column("seconds", "number", "seconds until the answer arrived; empty if unknown", True),
    ),
    "codings": (
        Column("coding", "integer", "number of the coding"),
        _ANSWER,
        Column(
            "coder",
            "string",
            "who coded the answer. An override counts before people's codings, and people's codings count "
            "before codings by rules; if an answer has several codings of one kind, the newest counts",
            values={value: _CODERS[value] for value in Coding.Coder.values},
        ),
        Column("version", "string", "version of the rules or of the model that coded; empty for annotators", True),
        Column("annotator", "string", "id of the annotator who coded; see the table annotators; empty if no "
        "annotator coded", True),
        Column("lead", "string", "id in this release of the lead who coded; empty if no lead coded", True),
        Column("outcome", "string", "code given to the answer"),
        Column("code", "integer", "value of the code: +1 for plus, −1 for minus, 0 for neither; empty if "
        "the question is not a choice", True),
        Column("span", "string", "words of the answer that the coding is based on; empty if there are none", True),
        Column("sure", "boolean", "whether the coding is sure"),
        Column(
            "reason",
            "string",
            "the rule that decided, or the person's reason; empty if none was given or if it is withheld",
            True,
        ),
    ),
}  # fmt: skip
DESCRIPTIONS: Mapping[str, str] = {
    "probe_runs": "one row per probe run: a model that was asked the questions of a probe set",
    "probe_answers": "one row per answer of a model to a question, unchanged",
    "codings": "one row per coding of an answer by rules, a model or a person",
}
TABLES = tuple(COLUMNS)
