"""What can be wrong in a project over there although the server answers: it is said, and nothing is undone here."""

from collections.abc import Collection

from annotation.models import LabelStudioProject
from foundation.errors import DomainError

PROJECT_GONE = "project_gone"
PROJECT_STRANGE = "project_strange"
MANY_DELETED = "many_deleted"
TASKS_CHANGED = "tasks_changed"
TASKS_MISSING = "tasks_missing"
TASKS_UNREADABLE = "tasks_unreadable"
CONFIGURATION_EDITED = "configuration_edited"
# The worst first: a bridge shows the code of that one. They stay until a comparison of everything finds them gone.
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
        "All labels stay here; push again to have its tasks labelled in a new project.",
    )


def project_strange(project: LabelStudioProject) -> DomainError:
    return DomainError(
        PROJECT_STRANGE,
        f"Project {project.external_id} in Label Studio holds none of the tasks that were sent to it, as after its "
        "database was set back. All labels stay here; push again to send the tasks anew.",
    )


def many_deleted(project: LabelStudioProject, number: int) -> DomainError:
    what = "1 annotation is" if number == 1 else f"{number:,} annotations are"
    return DomainError(
        MANY_DELETED,
        f"{what} no longer in project {project.external_id} of Label Studio, as after its database was set back to a "
        "backup. Their labels stay until you say whether they were deleted on purpose.",
    )


def tasks_changed(project: LabelStudioProject, number: int) -> DomainError:
    what = "a task" if number == 1 else f"{number:,} tasks"
    return DomainError(
        TASKS_CHANGED,
        f"In project {project.external_id} the data of {what} was changed in Label Studio, so nothing says what was "
        "labelled there. Labels taken before stay as they were.",
    )


def tasks_missing(project: LabelStudioProject, number: int) -> DomainError:
    what = "1 task is" if number == 1 else f"{number:,} tasks are"
    return DomainError(
        TASKS_MISSING,
        f"{what} no longer in project {project.external_id} of Label Studio; push again to send them anew.",
    )


def tasks_unreadable(project: LabelStudioProject, numbers: Collection[int]) -> DomainError:
    some = sorted(numbers)[:5]
    named = ", ".join(str(number) for number in some)
    more = f" and {len(numbers) - len(some):,} more" if len(numbers) > len(some) else ""
    what = "task" if len(numbers) == 1 else "tasks"
    return DomainError(
        TASKS_UNREADABLE,
        f"Label Studio fails whenever it is asked for {what} {named}{more} of project {project.external_id}, as when "
        "an answer holds what it cannot write. Everything else is read, and labels stay as they were.",
    )


def configuration_edited(project: LabelStudioProject) -> DomainError:
    return DomainError(
        CONFIGURATION_EDITED,
        f"The labelling interface or settings of project {project.external_id} were changed in Label Studio; push "
        "again to set them back. What cannot be read is refused, one by one, with the reason.",
    )


def together(found: list[DomainError]) -> DomainError | None:
    """Return the worst of them, with the sentences of as many as fit; None where there are none."""
    if not found:
        return None
    ordered = sorted(found, key=lambda one: CODES.index(one.code))
    said, left = ordered[0].message, 0
    for one in ordered[1:]:
        if left or len(said) + len(one.message) > 440:
            left += 1
        else:
            said += f" {one.message}"
    return DomainError(ordered[0].code, f"{said} ({left:,} more like this.)" if left else said)
