"""The tables of models' answers to probe sets, and their columns in order."""

from collections.abc import Mapping

from analysis.releases.contents import Column
from generation.models import Answer, Coding, ProbeRun

_OUTCOMES = {
    "done": "the model answered, perhaps with a refusal of its own",
    "declined": "the endpoint's filter declined the question or cut the answer",
    "failed": "no answer came",
}
_CODERS = {
    "rules": "the rules of docs/use/reference/probing.md, in this version",
    "model": "a model",
    "person": "an annotator",
    "override": "a lead, with a reason; it counts instead of all others",
}
_RUN = Column("probe_run", "integer", "number of the probe run; see probe_runs")
_ANSWER = Column("probe_answer", "integer", "number of the answer; see probe_answers")
_MODEL = Column("model", "string", "model that answered, as results name it")
_MODEL_ID = Column("model_id", "string", "id of that model; empty if it was not stated", True)
_REVISION = Column(
    "revision", "string", "revision of that model, or digest of its files; empty if unknown", True
)
_PROBE_SET = Column("probe_set", "string", "probe set; probe_sets/ holds its questions")
TEXT = Column(
    "text",
    "string",
    "the answer as it came. In CSV an apostrophe stands before text that a spreadsheet would run, and before text "
    "that looks so guarded itself: without the first apostrophe it is the answer",
    exact=True,
)

COLUMNS: Mapping[str, tuple[Column, ...]] = {
    "probe_runs": (
        _RUN,
        _MODEL,
        _MODEL_ID,
        _REVISION,
        Column(
            "backend", "string", "how the model was asked; imported stands for answers that were made elsewhere"
        ),
        _PROBE_SET,
        Column("probe_set_digest", "string", "SHA-256 of the questions as canonical JSON"),
        Column(
            "parameters",
            "string",
            "how answers were drawn, as JSON; of addresses and folders only what names no machine or account",
        ),
        Column("repeats", "integer", "how often each question was asked"),
        Column(
            "orders",
            "string",
            "in which order options were named",
            values={value: str(label) for value, label in ProbeRun.Orders.choices},
        ),
        *(Column(name, "integer", f"answers with the outcome {name}") for name in _OUTCOMES),
        Column("pending", "integer", "questions that were planned and not asked; they are not in probe_answers"),
    ),
    "probe_answers": (
        _ANSWER,
        _RUN,
        _MODEL,
        _MODEL_ID,
        _REVISION,
        _PROBE_SET,
        Column("experiment", "string", "experiment of the question"),
        Column("question", "string", "name of the question in its probe set"),
        Column("scenario", "string", "scenario of the image; empty if the experiment has none", True),
        Column("image", "string", "id of the image; see images; empty if it was about no image", True),
        Column("identity_group", "string", "identity group of the image, or that the sentence was about"),
        Column("letter", "string", "first letter that was asked for; empty if none was", True),
        Column(
            "order",
            "string",
            "order of the options; empty where there are none",
            True,
            values={value: str(label) for value, label in Answer.Order.choices if value},
        ),
        Column("repeat", "integer", "which of the answers to the same question, from 1"),
        Column("temperature", "number", "temperature that answers were drawn with; empty if unknown", True),
        Column("outcome", "string", "how the request ended", values=_OUTCOMES),
        TEXT,
        Column("finish_reason", "string", "why the answer ended; empty if the endpoint did not say", True),
        Column("served_model", "string", "model that the endpoint said it served; empty if it did not say", True),
        Column("fingerprint", "string", "fingerprint of that model; empty if the endpoint did not say", True),
        Column("tokens_in", "integer", "tokens of the request; empty if the endpoint did not say", True),
        Column("tokens_out", "integer", "tokens of the answer; empty if the endpoint did not say", True),
        Column("seconds", "number", "seconds until the answer was there; empty if unknown", True),
    ),
    "codings": (
        Column("coding", "integer", "number of the coding"),
        _ANSWER,
        Column(
            "coder",
            "string",
            "who coded. Overrides count before people, people before rules, the newest of each",
            values={value: _CODERS[value] for value in Coding.Coder.values},
        ),
        Column("version", "string", "version of the rules, or of the model; empty for annotators", True),
        Column("annotator", "string", "id of the annotator; see annotators; empty if no annotator coded", True),
        Column("lead", "string", "id of the lead in this release; empty if no lead coded", True),
        Column("outcome", "string", "what the answer was taken to say"),
        Column("code", "integer", "+1 plus, −1 minus, 0 neither; empty where the question is no choice", True),
        Column("span", "string", "words it was read from; empty if there are none", True),
        Column("sure", "boolean", "whether the coder is sure"),
        Column(
            "reason",
            "string",
            "the rule that decided, or why a person decided so; empty if none was given or it is withheld",
            True,
        ),
    ),
}  # fmt: skip
DESCRIPTIONS: Mapping[str, str] = {
    "probe_runs": "one row per probe run: a model that was asked the questions of a probe set",
    "probe_answers": "one row per answer of a model to a question, as it came",
    "codings": "one row per coding: what an answer was taken to say, by rules, models and people",
}
TABLES = tuple(COLUMNS)
