"""Measurements of what README and docs claim."""

import os
import sys

# What is measured runs as servers do: with compiled modules, whatever the environment says.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
