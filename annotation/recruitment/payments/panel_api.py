"""Which panels have an API for payments."""

from annotation.recruitment.models import Recruitment
from annotation.recruitment.prolific import access
from annotation.recruitment.prolific.client import ProlificClient
from foundation.errors import Conflict


def pays_by_program(recruitment: Recruitment) -> bool:
    """Return whether payments are sent from here; elsewhere a lead pays at the panel and records it."""
    return bool(recruitment.remote_study) and recruitment.provider.has_api


def client_of(recruitment: Recruitment) -> ProlificClient:
    """Return a client of the panel, to be closed."""
    if not pays_by_program(recruitment):
        raise Conflict("panel_not_connected", f"“{recruitment}” is not connected to a study at Prolific.")
    return access.client_of(recruitment.provider)
