"""Institutions are recognised by their names, in several languages; the stock text and templates name none."""

import pytest

from accounts.consent_texts import DEFAULT_BODY, DEFAULT_NOTICE, DEFAULT_SUPPORT
from annotation.launch.institutions import names_institution

STOCK = f"{DEFAULT_BODY}\n{DEFAULT_NOTICE}\n{DEFAULT_SUPPORT}"

NAMED = [
    "The Harbour Institute asks you to look at pictures.",
    "This study is run by researchers at the University of Velmar.",
    "Velmar State University, Department of Linguistics",
    "We are a team from Kestrel College.",
    "Responsible: Institute for Social Pictures, Velmar",
    "Department of Psychology, Velmar",
    "The study is conducted by Brightwater Ltd. and pays you.",
    "Data controller: Brightwater Analytics Inc.",
    "Norrin & Sons GmbH führt die Studie durch.",
    "A project of the Kestrel Foundation",
    "We work at MIT in Cambridge.",
    "Researchers of IIT Kanpur ask you.",
    "The Ministry of Education of Velmar",
    "Die Universität Bremen führt diese Studie durch.",
    "Diese Befragung ist ein Projekt der Technischen Universität Velmar.",
    "Verantwortlich ist das Max-Planck-Institut.",
    "Ein Projekt des Forschungsinstituts in Velmar, Hochschule für Gestaltung Velmar",
    "Das Forschungszentrum Velmar lädt Sie ein.",
    "Verantwortlich: Bilderforschung Velmar e. V.",
    "Este estudio lo realiza la Universidad de Velmar.",
    "Somos del Instituto Nacional de Imágenes.",
    "Responsable: Fundación Cernícalo",
    "La empresa Aguas Claras S.L. es la responsable.",
    "La Facultad de Psicología de Velmar le invita.",
    "यह अध्ययन दिल्ली विश्वविद्यालय द्वारा किया जा रहा है।",
    "भारतीय प्रौद्योगिकी संस्थान, कानपुर",
    "यह शोध वेलमार लिमिटेड का है।",
]
NOT_NAMED = [
    STOCK,
    STOCK + "\n\nQuestions: office@harbour.example",
    "Our university asks you to look at pictures.",
    "The University asks you.",
    "Your University invites you.",
    "[University of Velmar] asks you.",
    "This study is run by <Name of institution>.",
    "University of [name]",
    "University of XXX",
    "The Institute of ...",
    "Write to anna@velmar.example.",
    "Researchers of a university ask you.",
    "Written in 2026 by 12 people.",
    "Anna and Ben ask you to look at pictures.",
    "Unsere Universität lädt Sie ein.",
    "Die Universität lädt Sie ein.",
    "Eine Hochschule in der Stadt.",
    "Name der Universität: ____",
    "Nuestra universidad le invita.",
    "La Universidad le invita.",
    "हमारे विश्वविद्यालय द्वारा किया जा रहा है।",
    "किसी संस्थान का शोध",
    "",
]


@pytest.mark.parametrize("text", NAMED)
def test_an_institution_is_recognised(text):
    assert names_institution(text, without=STOCK)
    assert names_institution(f"{STOCK}\n\n{text}", without=STOCK)


@pytest.mark.parametrize("text", NOT_NAMED)
def test_no_institution_is_read_where_none_is_named(text):
    assert not names_institution(text, without=STOCK)
