"""Benchmarks of the claims in README and docs."""

import os
import sys

# Benchmarks use compiled modules, as servers do, whatever the environment says.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
