"""A campaign whose content and people contain marks, and a database that fails with them in its messages."""

from typing import Any

from django.db import connection

from accounts.models import User
from annotation.models import Campaign
from annotation.people import letters
from annotation.people.letters import LetterText
from annotation.people.recipients import Recipient
from benchmarks.annotation.small_campaign import make
from catalog.models import Attribute
from generation.models import Image
from studies.models import StudyGroup

# A mark for each place whose content must not be sent; the test sends those in requests.
_PLACES = (
    *("user name", "real name", "address", "api key", "cookie", "header", "query", "path token"),
    *("answer", "row", "campaign", "group", "prompt", "attribute", "letter", "message"),
)
MARKS = {place: f"mark{number:02}of{place.replace(' ', '')}" for number, place in enumerate(_PLACES)}
VISITOR = "203.0.113.77"


def fill() -> dict[str, Any]:
    """Create the campaign, a queued invitation letter, and the failures; return the result of `make`."""
    made = make(tasks=20, annotators=1)
    campaign = Campaign.objects.get(pk=made["campaign"])
    people = {"display_name": MARKS["real name"], "email": f"{MARKS['address']}@example.org"}
    User.objects.filter(annotator__enrolments__campaign=campaign).update(
        username=MARKS["user name"], **people
    )
    Campaign.objects.filter(pk=campaign.pk).update(name=MARKS["campaign"])
    StudyGroup.objects.filter(study=campaign.study).update(name=MARKS["group"])
    Image.objects.filter(study=campaign.study).update(prompt=MARKS["prompt"])
    for attribute in Attribute.objects.filter(text__startswith="lantern"):
        Attribute.objects.filter(pk=attribute.pk).update(text=f"{attribute.text} {MARKS['attribute']}")
    letters.invite_people(
        campaign=campaign,
        by=None,
        recipients=[Recipient(address=f"{MARKS['address']}@example.org", note=MARKS["letter"])],
        text=LetterText(
            link_of=lambda token: f"https://labels.example.org/{token}", message=MARKS["message"]
        ),
    )
    break_writing("annotation_annotation", "INSERT")
    break_writing("annotation_invitationletter", "UPDATE")
    return made


def break_writing(table: str, event: str) -> None:
    """Make the database refuse to write a table, with the row in the message, as its own constraints do."""
    name = f"break_{table}"
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(
                f"CREATE TRIGGER {name} BEFORE {event} ON {table}"
                f" BEGIN SELECT RAISE(ABORT, 'Failing row contains ({MARKS['row']})'); END"
            )
            return
        cursor.execute(
            f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            f" RAISE EXCEPTION 'Failing row contains ({MARKS['row']}, %)', row_to_json(NEW); END $$"
        )
        cursor.execute(
            f"CREATE TRIGGER {name} BEFORE {event} ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()"
        )
