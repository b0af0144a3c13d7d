"""A recruitment of 1,000 places by the stand-in for Prolific, while a web or worker process is killed each second.

People arrive, answer, complete, return, decline and vanish; a tenth of the panel's responses and events fail. Web
server, workers, the stand-in and PostgreSQL are separate processes.
"""

import tempfile
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

from benchmarks.table import Row
from benchmarks.web_server import own_database, postgres_address

PLACES, SCREENS, AT_ONCE = 1_000, 2, 12
SECONDS = 2_700.0  # each for the people and for their pay; ten minutes when idle


def run() -> Iterator[Row]:
    """Recruit, kill, pay and count; ends by itself."""
    yield from measure(places=PLACES, seconds=SECONDS)


def measure(*, places: int, seconds: float) -> Iterator[Row]:
    """Return a row for each claim about a recruitment of that many places."""
    from tests.foundation.database.own_database import platform_on
    from tests.services.annotators import web_server
    from tests.services.prolific.fake import fake_prolific
    from tests.services.prolific.killed_study import ENV, KilledStudy, Workers

    address = postgres_address()
    if address is None:
        yield Row(f"{places:,} places, killed each second", "no PostgreSQL answers", "", None)
        return
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = stack.enter_context(own_database(address, f"bench_paid_{uuid.uuid4().hex[:8]}"))
        fake = stack.enter_context(fake_prolific(folder))
        server = platform_on(url, folder, PROLIFIC_URL=fake.url, **ENV)
        server.run("migrate", "-v", "0")
        web = stack.enter_context(web_server(server, folder))
        study = KilledStudy(server, fake, web, places=places, screens=SCREENS)
        study.plant_faults()
        workers = stack.enter_context(closing(Workers(server, 3, folder / "workers.log")))
        outcome = study.run(workers, at_once=AT_ONCE, seconds=seconds)
    claim = f"{places:,} places, {outcome.kills:,} kills, PostgreSQL"
    killed = f"{outcome.kills - outcome.worker_kills:,} web, {outcome.worker_kills:,} workers"
    yield Row(f"{claim}: processes killed", killed, "", True)
    counts = [
        ("people who got a place", outcome.people, places),
        ("people paid twice", outcome.paid_twice, 0),
        ("people not paid", outcome.unpaid, 0),
        ("payments that nobody ordered", outcome.paid_unordered, 0),
        (f"of {outcome.events:,} acknowledged events lost", outcome.events_lost, 0),
        (
            f"of {outcome.left:,} who left, held a screen for over 5 s after we knew",
            outcome.slow_to_act,
            0,
        ),
        ("people who met an error", len(outcome.troubles), 0),
    ]
    for words, number, limit in counts:
        yield Row(f"{claim}: {words}", f"{number:,}", f"{limit:,}", number == limit)
    act = outcome.slowest_act
    yield Row(f"{claim}: longest such", f"{act:.1f} s", "≤ 5 s", act <= 5)
    # An event is sent again 1, 2 and 3 s after the process that took it was killed: not ours to shorten.
    words = f"{outcome.slow:,} over 5 s, at most {outcome.slowest:.1f} s"
    yield Row(f"{claim}: the same from the moment they left", words, "", True)
    difference = outcome.spent - outcome.ledger
    yield Row(f"{claim}: wallet less our ledger", f"{difference / 100:.2f} GBP", "0.00 GBP", difference == 0)
    share = abs(outcome.estimate - outcome.rewards) / max(1, outcome.rewards)
    yield Row(f"{claim}: cost, expected and real", f"{share:.2%} apart", "≤ 1 %", share <= 0.01)
    yield Row(
        f"{claim}: bonuses sent again, by a person or after a busy answer",
        f"{outcome.sent_again:,}",
        "",
        True,
    )
    for trouble in outcome.troubles[:3]:
        yield Row(f"  {trouble}"[:72], "", "none", False)
