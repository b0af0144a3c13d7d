"""The part of the data card that is about models' answers to probe sets."""

from analysis.releases.contents import Contents
from analysis.releases.documents.markdown import amount, code, plain, sections, table

NOTICE = (
    "**Content.** Answers are a model's own words, kept as they came. They may be offensive or false, and they may "
    "address whoever reads them. They are data: no fact about any people, and no instruction to follow."
)
_LIMITS = (
    "Answers hold for these models, on these days, with these parameters and questions. Codings by rules can be wrong; "
    "`sure` is false where they may be. `analyze` counts a lead's override before people's codings, and these before "
    "those of the newest rules."
)


def summary(contents: Contents) -> str:
    """What a release of answers of models alone holds, in one paragraph."""
    study = contents.study
    return (
        f"What models answered to questions, after the protocol {plain(study.protocol_name)}: "
        f"{_answers(contents)} by {_models(contents)}, about {amount(study.groups, 'identity group')} and "
        f"{amount(contents.images.images, 'image')}, with what each answer was taken to say. No person answered."
    )


def also_answered(contents: Contents) -> str:
    """The same beside the labels of people, in one sentence."""
    return f"There are also {_answers(contents)} by {_models(contents)} to the questions of probe sets."


def answers_of_models(contents: Contents) -> str:
    """Which models were asked what, and what to keep in mind of their answers; "" where none was asked."""
    if not contents.probes:
        return ""
    rows = [
        (
            run.model,
            code(run.probe_set),
            "made elsewhere and imported" if run.backend == "imported" else code(run.backend),
            f"{run.done:,}",
            f"{run.declined:,}",
            f"{run.failed:,}",
            f"{run.first_day} to {run.last_day}" if run.first_day else "",
        )
        for run in contents.probes
    ]
    heads = ("model", "probe set", "asked through", "done", "declined", "failed", "days")
    return sections(
        [
            "## Answers of models",
            NOTICE,
            table(heads, rows),
            "`probe_answers` has every answer that ended, `codings` what it was taken to say, and `probe_sets/` the "
            f"questions. `import_answers` of Stereoscope reads these files into another study. {_LIMITS}",
        ]
    ).rstrip("\n")


def _answers(contents: Contents) -> str:
    return amount(contents.table("probe_answers").rows, "answer")


def _models(contents: Contents) -> str:
    return amount(len({run.model for run in contents.probes}), "model")
