"""A campaign's settings as text for pages."""

from annotation.assignment.campaign_quotas import quotas_of
from annotation.assignment.quota_rules import in_words
from annotation.kinds.declaration import Kind
from annotation.kinds.options import FROM_CAMPAIGN, Options
from annotation.kinds.registry import kind_of
from annotation.kinds.stimuli import Stimuli
from annotation.models import Campaign, Notice


def settings_in_words(campaign: Campaign) -> list[tuple[str, str]]:
    """Return (term, description) pairs for the campaign's page."""
    if campaign.imported:
        return [("Labels", "imported from a file; nobody answers it here")]
    return fixed_in_words(campaign) + _working_in_words(campaign)


def fixed_in_words(campaign: Campaign) -> list[tuple[str, str]]:
    """Return the settings that were fixed when the campaign opened."""
    people, kind = campaign.annotators_per_task, kind_of(campaign)
    quotas = quotas_of(campaign)
    words = [
        ("Kind", kind.name),
        (
            "Each screen",
            f"answered by {people} {'person' if people == 1 else 'different people'}, independently",
        ),
        (
            "Quotas",
            " ".join(map(in_words, quotas.rules)) if quotas else "none; anybody may answer any screen",
        ),
    ]
    options = Options.of(campaign)
    if kind.rates_attributes:
        includes_all = options.attributes == "all"
        words.append(
            (
                "Attributes",
                "all attributes that the resource lists"
                if includes_all
                else "stereotypes by the study’s rule",
            )
        )
    elif kind.marks_attributes:
        words += _marking(campaign, options)
    else:
        words += _questions(kind, options)
    words.append(("Seed", str(campaign.seed)))
    return words


def _working_in_words(campaign: Campaign) -> list[tuple[str, str]]:
    """Return the settings that may change while people work."""
    options = Options.of(campaign)
    return [
        ("Time for a screen", f"{campaign.lease_minutes} minutes; then it is offered to somebody else"),
        ("A day", _a_day(options)),
        ("Corrections", f"for {options.edit_minutes} minutes" if options.edit_minutes else "none"),
        (
            "After a withdrawal",
            "their screens are given to others"
            if options.reopen_withdrawn
            else "their screens are not given to others",
        ),
        ("Pay", options.pay or "nothing said"),
        ("Rate", rate_in_words(options)),
        ("Budget", _budget(options)),
        ("Stop rules", " ".join(stop_rules_in_words(options)) or "none; a lead closes the campaign"),
        ("E-mail to leads", _notices(options)),
    ]


def stop_rules_in_words(options: Options) -> list[str]:
    """Return a sentence for each stop rule; none if only a lead stops the campaign."""
    does = "Closes" if options.stop_by == "close" else "Pauses"
    rules = []
    if options.stop_at_budget:
        rules.append(f"{does} when the budget of {_budget(options)} is spent.")
    if options.stop_on:
        rules.append(f"{does} on {options.stop_on.replace('T', ' at ')}.")
    if options.stop_complete:
        rules.append(f"{does} when every screen has all the answers it needs.")
    if options.stop_half_width is not None:
        rules.append(
            f"{does} when the half-width of θ over all groups is at most {options.stop_half_width:g}, checked after "
            f"{options.stop_least:,} answers and then after every {options.stop_every:,}."
        )
    return rules


def _notices(options: Options) -> str:
    if len(options.notices) == len(Notice.Kind):
        return "for every notice"
    return "; ".join(Notice.Kind(notice).label for notice in options.notices) or "none"


def rate_in_words(options: Options) -> str:
    """Return the rate of pay statements."""
    if options.pay_amount is None:
        return "none set"
    per = "hour of active work" if options.pay_per == "hour" else "submitted screen"
    return f"{options.pay_amount:,.2f} {options.pay_currency} per {per}"


def _budget(options: Options) -> str:
    return "none set" if options.pay_budget is None else f"{options.pay_budget:,.2f} {options.pay_currency}"


def _a_day(options: Options) -> str:
    caps = [
        (options.tasks_per_day, "at most {} screens for each person"),
        (options.sensitive_per_day, "at most {} with offensive stereotypes"),
    ]
    return ", ".join(words.format(number) for number, words in caps if number is not None) or "no limit"


def _marking(campaign: Campaign, options: Options) -> list[tuple[str, str]]:
    return [
        ("Stereotypes", _source(campaign, options)),
        ("Random attributes", f"{options.random_per_stereotype} for each stereotype, drawn once per group"),
        ("Images", _images(options)),
        ("On one screen", f"at most {campaign.attributes_per_screen} attributes and ‘None of the above’"),
        ("Boxes", "needed for each ticked attribute" if campaign.boxes_required else "optional"),
    ]


def _questions(kind: Kind, options: Options) -> list[tuple[str, str]]:
    shown = kind.stimuli
    words = [("Questions", "; ".join(question.label["en"] for question in kind.questions))]
    if shown.medium == "text":
        return [*words, ("Texts", f"{len(options.texts):,}, one a screen")]
    if shown.most == 1:
        words.append(("Images", _images(options)))
    else:
        number = shown.most if shown.least == shown.most else f"{shown.least} to {shown.most}"
        words += [
            ("On one screen", f"{number} images{_shared(shown)}, of {_models(options)}"),
            ("Screens", f"at most {options.combinations:,} for each {_set_of(shown)}"),
        ]
    words.append(("Prompt", "shown" if shown.prompt_shown else "not shown"))
    return words


def _shared(shown: Stimuli) -> str:
    same = f" of the same {' and '.join(shown.together)}" if shown.together else ""
    return f"{same} by different {shown.differ}s" if shown.differ else same


def _set_of(shown: Stimuli) -> str:
    return "prompt" if shown.together == ("prompt",) else "set of images"


def _source(campaign: Campaign, options: Options) -> str:
    if options.visual_source == "all":
        return "all stereotypes by the study’s rule, visual or not"
    slug = options.visual_source.removeprefix(FROM_CAMPAIGN)
    rating = campaign.study.campaigns.filter(slug=slug).first()
    who = "everybody" if options.visual_rule == "unanimous" else "more than half"
    return f"attributes that {who} in “{rating.name if rating else slug}” rated as visual"


def _images(options: Options) -> str:
    number = "all" if options.images_per_group is None else f"{options.images_per_group:,}"
    return f"{number} per group, of {_models(options)}"


def _models(options: Options) -> str:
    return "every model" if options.model_labels is None else ", ".join(options.model_labels)
