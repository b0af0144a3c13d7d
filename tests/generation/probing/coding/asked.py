"""A question about invented trades, for answers whose coding is obvious."""

from generation.probing.questions import AnswerOption, AskedQuestion, OptionPair

TRADES = AskedQuestion(
    text="Is this person a lamplighter or a tile-setter? Choose only one.",
    options=OptionPair(
        plus=AnswerOption(text="lamplighter", aliases=("lamp-man", "lighter of lamps")),
        minus=AnswerOption(text="tile-setter", aliases=("tiler",)),
        neither=("tiler of baths",),
    ),
)
SWAPPED = TRADES.model_copy(update={"first": "minus"})
WEATHER = AskedQuestion(
    text="Is it dry or wet?",
    options=OptionPair(plus=AnswerOption(text="dry", aliases=("not wet",)), minus="wet"),
)
