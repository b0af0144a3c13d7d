"""Whether a text names an institution: a university, an institute, an authority or a company, by its own name.

“Our university” and “University of […]” name none. English, German, Spanish and Hindi are read.
"""

import re
import unicodedata

_STARTS = (
    # English
    "University|College|School|Institute|Institution|Cent(?:re|er)|Laborator(?:y|ies)|Lab|Foundation|Academy|Department|Faculty|"
    "Hospital|Clinic|Ministry|Council|Commission|Agency|Authority|Office|Bureau|Society|Association|Trust|Observatory|"
    "Polytechnic|Museum|Library|Charity|Consortium|Cooperative|"
    # German
    "Universität|Universitaet|Hochschule|Fachhochschule|Institut|Zentrum|Labor|Stiftung|Akademie|Klinik|Klinikum|Fakultät|"
    "Lehrstuhl|Fachbereich|Verein|Gesellschaft|Behörde|Ministerium|Senat|Landesamt|Bundesamt|Verband|Museum|Charité|"
    # Spanish
    "Universidad|Facultad|Instituto|Escuela|Centro|Fundación|Fundacion|Laboratorio|Academia|Departamento|Ministerio|"
    "Consejo|Asociación|Asociacion|Agencia|Sociedad|Colegio|Observatorio|Ayuntamiento|Politécnica|Empresa|Compañía"
)
# “Forschungsinstitut”, “Max-Planck-Institut”: the noun ends a longer word.
_COMPOUND = (
    r"[^\W\d_][\w-]*(?:institut|universität|universitaet|hochschule|zentrum|stiftung|akademie|klinikum|"
    r"ministerium|gesellschaft)"
)
_LEGAL_FORMS = (
    r"GmbH|gGmbH|mbH|AG|KG|UG|SE|OHG|e\. ?V\.?|eG|Ltd\.?|Limited|LLC|LLP|PLC|plc|"
    r"Inc\.?|Incorporated|Corp\.?|Corporation|"
    r"Company|Co\.|S\. ?A\. ?(?:de C\. ?V\.)?|S\. ?L\.(?: ?U\.)?|S\. ?R\. ?L\.|SARL|SAS|"
    r"B\.? ?V\.|N\.? ?V\.|S\. ?p\. ?A\.|Pvt\.?|Oy|AB|A/S|CIC|CIO"
)
# Known by their letters.
_LETTERS = (
    "MIT|ETH|EPFL|TUM|LMU|RWTH|KIT|DLR|DFKI|CNRS|INRIA|Inria|CSIC|UNAM|UPC|UCL|LSE|UCLA|NYU|CMU|NIH|NIST|CERN|INSERM|IIT|"
    "IISc|IIIT|ISI|JNU|AIIMS|TIFR|ISRO|NASA|UNESCO|WHO"
)
_LINK = r"(?:of|for|at|the|der|des|für|fuer|zu|von|an|de|del|la|las|los|el|y|and|und|in|auf|im|zur)"
_NAME = r"(?!(?:X+|Y+|Z+|Name|XYZ|TODO|TBD)\b)[A-ZÀ-ÖØ-Þ][\w’'.-]+"
# They begin a sentence or point to an institution, but are no part of its name.
_NO_NAMES = frozenset(
    re.findall(
        r"\S+",
        """
        the a an our your my this that these their his her its one some any each every which what at
        by from of for in as we you and or research study name new public private local big large
        university institute institution department school college company der die das den dem des
        ein eine einer eines einem einen unser unsere unserer unserem unseren ihre ihr ihrer diese
        dieser dieses meine meiner an von zu am im für und oder name stadt land la el los las un una
        nuestra nuestro su sus mi esta este de del por en y o nombre universidad instituto
        universität institut hochschule
        """,
    )
)
_HINDI = (
    "विश्वविद्यालय|महाविद्यालय|विद्यापीठ|विद्यालय|संस्थान|संस्था|कॉलेज|यूनिवर्सिटी|इंस्टीट्यूट|केंद्र|केन्द्र|प्रयोगशाला|"
    "अकादमी|फाउंडेशन|परिषद|मंत्रालय|विभाग|कंपनी|लिमिटेड|न्यास|आयोग|अस्पताल"
)
_NO_HINDI_NAMES = frozenset(
    re.findall(
        r"\S+",
        """
        हमारा हमारे हमारी एक यह इस किसी के का की को से में पर और या आपका आपके आपकी मेरा मेरे मेरी
        कोई नाम शोध अपने अपना वह उस एवं
        """,
    )
)

_NAME_AFTER = re.compile(rf"(?<![\w-])(?:{_STARTS}|{_COMPOUND})(?:\s+{_LINK})*\s+({_NAME})")
_COMPOUND_ALONE = re.compile(
    r"(?<![\w-])[A-ZÀ-Ö][\w]*(?:-[A-ZÀ-Ö]\w*)+-(?:Institut|Universität|Hochschule|Stiftung|Zentrum|Akademie)(?!\w)"
)
_NAME_BEFORE = re.compile(rf"({_NAME})\s+(?:{_STARTS})(?![\w-])")
_COMPANY = re.compile(rf"({_NAME})(?:\s+(?:&\s+)?{_NAME})*,?\s+(?:{_LEGAL_FORMS})(?!\w)")
_KNOWN = re.compile(rf"(?<![\w-])(?:{_LETTERS})(?![\w-])")
_HINDI_NAME = re.compile(rf"(\S+)\s+(?:{_HINDI})(?!\w)")
# What a template leaves to be filled in.
_BLANKS = re.compile(r"\[[^\]]*\]|<[^>]*>|\{[^}]*\}|_{2,}|…|\.{3,}")


def names_institution(text: str, *, without: str = "") -> bool:
    """Return whether `text` names an institution; sentences that it shares with `without` do not count."""
    stock = set(_sentences(without))
    added_text = " . ".join(sentence for sentence in _sentences(text) if sentence not in stock)
    added_text = _BLANKS.sub(" | ", added_text)
    if _KNOWN.search(added_text) or _COMPOUND_ALONE.search(added_text):
        return True
    patterns = (_NAME_AFTER, _NAME_BEFORE, _COMPANY)
    if any(_is_name(match[1]) for pattern in patterns for match in pattern.finditer(added_text)):
        return True
    return any(match[1].strip("।,") not in _NO_HINDI_NAMES for match in _HINDI_NAME.finditer(added_text))


def _is_name(word: str) -> bool:
    return word.strip(".,’'").casefold() not in _NO_NAMES


def _sentences(text: str) -> list[str]:
    """Return the sentences of a text, with single spaces; an abbreviation's full stop ends none."""
    plain = " ".join(unicodedata.normalize("NFC", text).split(" "))
    parts = re.split(r"(?<=[a-zäöüß)\u0900-\u097f]{2}[.!?।])\s+|\n+", plain)
    return [" ".join(part.split()) for part in parts if part.strip()]
