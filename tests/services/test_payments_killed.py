"""Web server and worker are killed while people from a panel work and are paid: everybody is paid once."""

from contextlib import closing

import pytest

from tests.foundation.database.own_database import own_server
from tests.services.annotators import web_server
from tests.services.prolific.fake import fake_prolific
from tests.services.prolific.killed_study import ENV, KilledStudy, Workers

pytestmark = [pytest.mark.services, pytest.mark.slow]
PLACES = 20


def test_whatever_is_killed_everybody_is_paid_once(tmp_path):
    with (
        fake_prolific(tmp_path) as fake,
        own_server(tmp_path, PROLIFIC_URL=fake.url, **ENV) as server,
        web_server(server, tmp_path) as web,
    ):
        study = KilledStudy(server, fake, web, places=PLACES, screens=2)
        study.plant_faults()
        with closing(Workers(server, 2, tmp_path / "workers.log")) as workers:
            outcome = study.run(workers, at_once=6, seconds=240)
    assert outcome.troubles == ()
    assert outcome.people == PLACES
    assert (outcome.paid_twice, outcome.unpaid, outcome.paid_unordered) == (0, 0, 0)
    assert (outcome.events_lost, outcome.leased) == (0, 0)
    assert outcome.spent == outcome.ledger
    assert abs(outcome.estimate - outcome.rewards) <= 0.01 * outcome.rewards
    for log in ("gunicorn.log", "workers.log"):
        assert f"{0:020x}" not in (tmp_path / log).read_text(errors="replace")
