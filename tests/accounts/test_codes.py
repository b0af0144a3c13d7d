"""Codes for the ways people spell their self-descriptions: a code where it is certain, none where in doubt."""

import pytest

from accounts.profile_codes import code_tables, codes
from foundation.languages import LANGUAGES

GENDERS = {
    "man": """man Man MAN male MALE Male. männlich maennlich Männlich mannlich Mann männl. männliche(r)
        homme hombre varón uomo homem muž mężczyzna mies férfi erkek άνδρας мужчина чоловік 男 男性 남자 पुरुष رجل גבר
        mand masculino masculin maschio “man” cis_man|cis man|I am a man|ich bin ein Mann
        |männlich/male|M (male)|männliche Person|cisgender male|male\u200f|\ufeffmale""",
    "woman": """woman Woman WOMAN women f F female Female FEMALE weiblich Weiblich weibl. w W Frau frau femme
        féminin Féminin(e) mujer femenino feminino donna femmina mulher žena kobieta kvinna nainen kadın γυναίκα женщина
        жінка 女 女性 여성 महिला امرأة אישה หญิง wanita perempuan|cis woman|I’m a woman|Weiblich / Female|cis-weiblich
        |Ich bin eine Frau""",
    "non-binary": """non-binary Non-Binary nonbinary NB enby nichtbinär nicht-binär nichtbinaer divers Divers
        non-binaire|non binary|nicht binär|no binario/a|não-binário|non\u2010binary""",
}
NO_GENDER = """m|M|masculine|feminine|Müller
    |m/f|M/F|m/w/d|other|Other|divers/weiblich|prefer not to say|keine Angabe|n/a|-|not a man|not a woman
    |non-man|woman (trans)|trans woman|trans man|man?|woman?|Frau*|man*|wo/man|(wo)man|fe/male|male/female|mna|femal
    |wmoan|manly|he/him|she/her|male (he/him)|queer|agender|👨|man 👍|d|x|h|both|none|no|human|yes|man or woman
    |man & woman|Herr|boy|girl|Manx|Mandarin|German"""
NATIONALITIES = {
    "DEU": """German german GERMAN Germany Deutschland deutsch Deutsch Deutsche Deutscher Deutsche(r) Deutsche/r DE de
        DEU GER Allemand allemande allemand(e) Alemania alemán alemana tedesco Germania Duits duitser Niemiec Niemcy
        Alman Almanya Németország Германия немец 德国 ドイツ|German citizen|aus Deutschland|deutsche Staatsangehörigkeit
        |Federal Republic of Germany|I am German|German/Deutsch|Germany (DE)
        |German, Deutsch""",
    "IND": """Indian indian India IND Inder Inderin Inder/in indisch Indien indien indienne Bharat भारत भारतीय
        |from India|Indian national""",
    "USA": """USA U.S.A. US U.S. us american American AMERICAN amerikanisch US-amerikanisch Amerikaner Amerikanerin
        US-Amerikaner Américain américaine estadounidense|United States|United States of America|the United States
        |aus den USA|Vereinigte Staaten|EE.UU.|US American|Estados Unidos""",
    "GBR": """UK U.K. GB British british Briton Brite Britin britisch Engländerin England English Scottish Welsh
        Großbritannien Grossbritannien|United Kingdom|Great Britain|Vereinigtes Königreich|Royaume-Uni|Reino Unido
        |the UK|from the UK""",
    "AUT": "Austria Austrian Österreich Oesterreich österreichisch Österreicherin AT Autriche Avusturya",
    "AUS": "Australia Australian australisch Australierin AU",
    "ITA": "Italy Italian Italia italiano italiana italiano/a Italiener Italienerin Italiener*in ItalienerIn IT",
    "FRA": "France French Français Française français(e) Franzose Französin französisch Frankreich FR Francia",
    "TUR": "Turkey Türkiye Turkish Turk türkisch Türke Türkin TR Türkei",
    "KOR": "Südkorea Südkoreaner südkoreanisch 한국|South Korea|South Korean|Republic of Korea",
    "PRK": "Nordkorea DPRK|North Korea|North Korean",
    "CZE": "Czech Czechia Tschechien tschechisch Tschechin Česko CZ|Czech Republic|Tschechische Republik",
    "CIV": "Ivorian ivorisch|Ivory Coast|Côte d'Ivoire|Cote d’Ivoire|Cote d Ivoire",
    "NLD": "Dutch Netherlands Holland holländisch Niederländerin Nederland NL|The Netherlands",
    "CHN": "China Chinese Chinesin chinesisch CN 中国 chinois",
    "JPN": "Japan Japanese Japanerin japanisch 日本 日本人 JP",
    "RUS": "Russia Russian Russe Russin russisch Россия русский|Russian Federation",
    "NGA": "Nigeria Nigerian nigerianisch",
    "NER": "Niger Nigerien nigrisch",
    "GNB": "Guinea-Bissau|guinea bissau",
    "GNQ": "Äquatorialguinea|Equatorial Guinea",
    "GIN": "GIN|Guinea (Conakry)|Republic of Guinea",
    "COD": "DRC|DR Congo|Democratic Republic of the Congo|Congo (Kinshasa)",
    "DOM": "DOM|Dominican Republic|Dominikanische Republik|República Dominicana",
    "DMA": "Dominica",
    "GEO": "Georgian georgisch Georgien",
    "CHE": "Swiss Schweiz Schweizerin Suisse CH Switzerland",
    "PHL": "Filipino Filipina Philippines Philippinen",
    "VNM": "Vietnam Vietnamese vietnamesisch|Viet Nam|Việt Nam",
    "BIH": "Bosnian Bosnien|Bosnia and Herzegovina|Bosnia & Herzegovina|Bosnien und Herzegowina",
    "LCA": "LCA|St. Lucia|Saint Lucia|St Lucia",
    "ARE": "Emirati UAE U.A.E. VAE|United Arab Emirates",
    "XKX": "Kosovo Kosovar",
    "POL": "Polish Pole Polin polnisch Polak Polska PL",
    "ROU": "Romanian Rumänin român",
    "HKG": "HK 香港|Hong Kong",
    "MAC": "Macau Macao 澳門",
    "PSE": "Palestine Palestina Palestinian",
    "PER": "Peru Peruvian PER peruanisch",
}
NO_NATIONALITY = """IN|CA|Georgia|Samoan|America|island|Granada|Salvador|Reunion
    |Guinea|Guinean|Congo|Congolese|Kongo|Korea|Korean|Koreaner|koreanisch|Dominican|Americano
    |German/Turkish|German and Turkish|deutsch-türkisch|German, Turkish|DE/TR|African American|Native American
    |British Indian|Irish American|Indo-Fijian|Northern Irish|Gernan|Germn|Indain|Amercian|Germanish|not German
    |non-German|German?|German*|half German|Persian|Kurdish|Arab|Latino|Hispanic|European|African|Asian|Jewish|Roma
    |Soviet|bi|mon|Yugoslav|none|no|nő|NO|NA|n/a|bi|oma|me|in|is|it|can|per|and|other|prefer not to say|-|stateless|EU
    |world citizen|Virgin Islands|St Martin|earth|human|🇩🇪|woman|man|Roman|Naija|Norfolk|SA|sa|si|ne|er|eh|ni|al
    |German the|German (Turkish)|Germany/|Korea, Guinea|Georgia (US)|German, Deutsch, Turk"""


def phrases(listed):
    return [" ".join(one.split()) for one in listed.split("|") if one.strip()]


def spelt(table):
    """Spellings and their codes: separate words, and after the first | phrases separated by bars."""
    for code, listed in table.items():
        words, *more = listed.split("|")
        for text in [*words.split(), *phrases("|".join(more))]:
            yield text.replace("_", " "), code


@pytest.mark.parametrize(("text", "code"), list(spelt(GENDERS)))
def test_a_gender_is_found_whatever_its_spelling(text, code):
    assert codes.code_of("gender", text) == code


@pytest.mark.parametrize(("text", "code"), list(spelt(NATIONALITIES)))
def test_a_nationality_is_found_whatever_its_spelling(text, code):
    assert codes.code_of("nationality", text) == code


@pytest.mark.parametrize("text", phrases(NO_GENDER))
def test_a_doubtful_gender_has_no_code(text):
    assert codes.code_of("gender", text) == ""


@pytest.mark.parametrize("text", phrases(NO_NATIONALITY))
def test_a_doubtful_nationality_has_no_code(text):
    assert codes.code_of("nationality", text) == ""


@pytest.mark.parametrize("field", codes.CODED)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_suggestion_leads_to_its_own_code(field, language):
    """Otherwise a person who takes a suggestion would count as having used their own words."""
    wrong = {
        code: label
        for code in code_tables.field_codes(field)
        if codes.code_of(field, label := codes.label(field, code, language=language)) not in {code, ""}
    }
    assert wrong == {}
    if field != "languages":
        assert [
            one
            for one in code_tables.field_codes(field)
            if not codes.code_of(field, codes.label(field, one, language=language))
        ] == []


def test_labels_are_in_the_language_of_the_reader():
    assert codes.label("gender", "man", language="de") == "Mann"
    assert codes.label("nationality", "deu", language="de") == "Deutschland"
    assert codes.label("region_of_origin", "030", language="de") == "Ostasien"
    assert codes.label("nationality", "DEU", language="es-mx") == "Alemania"
    assert codes.label("languages", "es", language="hi") == "स्पेनिश"
    assert codes.label("languages", "akz", language="hi") == "Alabama"
    assert codes.label("nationality", "velmari") == "velmari"


def test_a_region_and_a_language_have_codes_too():
    assert (
        codes.code_of("region_of_origin", "East Asia")
        == codes.code_of("region_of_origin", "Ostasien")
        == "030"
    )
    assert codes.code_of("region_of_origin", "Middle East") == ""
    assert codes.code_of("languages", "Englisch") == codes.code_of("languages", "english") == "en"
    assert codes.code_of("languages", "Velmi") == ""


@pytest.mark.parametrize("text", ["no", "No", "NA", "UK", "none"])
def test_words_hardly_meant_as_a_language_have_no_code(text):
    assert codes.code_of("languages", text) == ""
