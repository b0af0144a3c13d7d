"""Regions of the world by the United Nations' M49 codes."""

# The sub-regions of the UN's list; see https://unstats.un.org/unsd/methodology/m49/
SUBREGIONS = {
    "015": "Northern Africa",
    "202": "Sub-Saharan Africa",
    "419": "Latin America and the Caribbean",
    "021": "Northern America",
    "143": "Central Asia",
    "030": "Eastern Asia",
    "035": "South-eastern Asia",
    "034": "Southern Asia",
    "145": "Western Asia",
    "151": "Eastern Europe",
    "154": "Northern Europe",
    "039": "Southern Europe",
    "155": "Western Europe",
    "053": "Australia and New Zealand",
    "054": "Melanesia",
    "057": "Micronesia",
    "061": "Polynesia",
}
