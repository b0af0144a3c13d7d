"""Problems in a project although the server answers. Leads see them, and nothing is undone here."""

from collections.abc import Collection

from annotation.label_studio.models import LabelStudioProject
from foundation.errors import DomainError

PROJECT_GONE = "project_gone"
PROJECT_STRANGE = "project_strange"
MANY_DELETED = "many_deleted"
TASKS_CHANGED = "tasks_changed"
TASKS_MISSING = "tasks_missing"
TASKS_UNREADABLE = "tasks_unreadable"
CONFIGURATION_EDITED = "configuration_edited"
# The worst first: a bridge shows this code. Problems stay until a complete comparison no longer finds them.
CODES = (
    PROJECT_GONE,
    PROJECT_STRANGE,
    MANY_DELETED,
    TASKS_CHANGED,
    TASKS_UNREADABLE,
    CONFIGURATION_EDITED,
    TASKS_MISSING,
)


def project_gone(project: LabelStudioProject) -> DomainError:
    return DomainError(
        PROJECT_GONE,
        f"Project {project.external_id} is no longer in Label Studio, or the token’s owner may not see it. "
        "All labels stay in Stereoscope. Push again to have the tasks labelled in a new project.",
    )


def project_strange(project: LabelStudioProject) -> DomainError:
    return DomainError(
        PROJECT_STRANGE,
        f"Project {project.external_id} in Label Studio has none of the tasks that were sent to it, as if its "
        f"database had been restored from a backup. All labels stay in Stereoscope. Push again to send the tasks "
        "again.",
    )


def many_deleted(project: LabelStudioProject, number: int) -> DomainError:
    subject = "1 annotation is" if number == 1 else f"{number:,} annotations are"
    return DomainError(
        MANY_DELETED,
        f"{subject} no longer in project {project.external_id} of Label Studio, as if its database had been "
        "restored from a backup. The labels stay until you say whether the answers were deleted on purpose.",
    )


def tasks_changed(project: LabelStudioProject, number: int) -> DomainError:
    subject = "a task" if number == 1 else f"{number:,} tasks"
    return DomainError(
        TASKS_CHANGED,
        f"In project {project.external_id} the data of {subject} was changed in Label Studio, so it is "
        "unknown what was labelled. Earlier labels do not change.",
    )


def tasks_missing(project: LabelStudioProject, number: int) -> DomainError:
    subject = "1 task is" if number == 1 else f"{number:,} tasks are"
    return DomainError(
        TASKS_MISSING,
        f"{subject} no longer in project {project.external_id} of Label Studio; push again to send them.",
    )


def tasks_unreadable(project: LabelStudioProject, numbers: Collection[int]) -> DomainError:
    listed_numbers = sorted(numbers)[:5]
    listed = ", ".join(str(number) for number in listed_numbers)
    more = f" and {len(numbers) - len(listed_numbers):,} more" if len(numbers) > len(listed_numbers) else ""
    noun = "task" if len(numbers) == 1 else "tasks"
    return DomainError(
        TASKS_UNREADABLE,
        f"Label Studio fails whenever it is asked for {noun} {listed}{more} of project {project.external_id}, for "
        f"example because of an answer that it cannot export. Everything else is read, and labels do not change.",
    )


def configuration_edited(project: LabelStudioProject) -> DomainError:
    return DomainError(
        CONFIGURATION_EDITED,
        f"The labelling interface or settings of project {project.external_id} were changed in Label Studio; push "
        f"again to restore them. Answers that cannot be read are refused with the reason.",
    )


def together(errors: list[DomainError]) -> DomainError | None:
    """Return the worst problem, with the sentences of further problems as far as they fit; None if there are none."""
    if not errors:
        return None
    ordered = sorted(errors, key=lambda problem: CODES.index(problem.code))
    message, left_out = ordered[0].message, 0
    for problem in ordered[1:]:
        if left_out or len(message) + len(problem.message) > 440:
            left_out += 1
        else:
            message += f" {problem.message}"
    return DomainError(ordered[0].code, f"{message} ({left_out:,} more problems.)" if left_out else message)
