"""Words for profile fields and how they are released, in documents and on pages."""

KEPT_WORDS = {
    "as_stated": "as stated",
    "region": "as a region of the world only",
    "wider_bands": "as a wider age band",
    "withheld": "withheld",
}
FIELD_WORDS = {
    "gender": "gender",
    "region_of_origin": "region of origin",
    "nationality": "nationality",
    "country_of_residence": "country of residence",
    "age_band": "age band",
    "languages": "languages",
}
