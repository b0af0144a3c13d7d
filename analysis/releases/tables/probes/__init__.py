"""The tables of a release that hold what models answered to probe sets."""
