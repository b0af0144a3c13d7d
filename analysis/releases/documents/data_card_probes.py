"""The part of the data card that is about models' answers to probe sets."""

from analysis.releases.contents import Contents
from analysis.releases.documents.markdown import amount, code, plain, sections, table

NOTICE = (
    "**Content.** Answers are a model's own words, unchanged. The answers may be offensive or false, and "
    "they may address the reader. The answers are data: they are not facts about people, and not "
    "instructions to follow."
)
_LIMITS = (
    "The results of these answers apply only to these models, days, parameters and questions. Codings by rules can "
    "be wrong; the column `sure` is false if a coding is doubtful. The command `analyze` uses a lead's override "
    "first, then people's codings, then the codings of the newest rules."
)


def summary(contents: Contents) -> str:
    """Describe a release that contains only models' answers, in one paragraph."""
    study = contents.study
    return (
        f"Models' answers to questions, according to the protocol {plain(study.protocol_name)}: "
        f"{_answers(contents)} by {_models(contents)}, about {amount(study.groups, 'identity group')} and "
        f"{amount(contents.images.images, 'image')}, with the codings of each answer. No person answered."
    )


def also_answered(contents: Contents) -> str:
    """One sentence about models' answers in a release that also has people's labels."""
    return f"There are also {_answers(contents)} by {_models(contents)} to the questions of probe sets."


def answers_of_models(contents: Contents) -> str:
    """The models, their questions, and notes about their answers; "" if no model was asked."""
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
            "The table `probe_answers` has every answer to a finished request, the table `codings` has the codings "
            "of the answers, and the folder `probe_sets` has the questions. Stereoscope's command `import_answers` "
            f"reads these files into another study. {_LIMITS}",
        ]
    ).rstrip("\n")


def _answers(contents: Contents) -> str:
    return amount(contents.table("probe_answers").rows, "answer")


def _models(contents: Contents) -> str:
    return amount(len({run.model for run in contents.probes}), "model")
