from tests.generation.pages.probing.conftest import asked, occupations, scenarios

__all__ = ["asked", "occupations", "scenarios"]
