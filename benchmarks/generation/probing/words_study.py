"""An invented study of descriptors, and a probe set with any number of questions about them."""

STUDY = """
from studies.models import Study, StudyGroup
study = Study.objects.create(name="Isles", slug="isles", seed=7)
for name in ("Velmari", "Orsani"):
    StudyGroup.objects.create(study=study, name=name, display_name=name)
"""
PROBE_SET = """
title = "Words"
runs = 1
orders = "published"
letters = "abcdefghijklmnopqrstuvwxy"
sampling = { temperature = 0.7, top_p = 0.95, max_tokens = 20 }

[[experiments]]
name = "words"

[[experiments.questions]]
name = "singular"
kind = "complete"
form = "singular"
setting = "singular"
system = "Reply with one word in brackets."
text = "{A_an} {descriptor} is [{letter}__]."
"""
ANSWERS_IN_A_RUN = 2 * 25
