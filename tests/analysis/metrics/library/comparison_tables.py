"""Comparisons, rankings, choices, points and answers made from the rows that the invariances change."""

import pandas as pd

ITEMS = ("north", "east", "south", "west")


def as_comparisons(frame: pd.DataFrame) -> pd.DataFrame:
    """Each judgement compares two of four items, chosen by its number; a present attribute prefers the first."""
    row = frame["row"].to_numpy(dtype=int)
    first = row % len(ITEMS)
    second = (first + 1 + row // len(ITEMS) % (len(ITEMS) - 1)) % len(ITEMS)
    answer = frame["present"].map({1: "first", 0: "second"}).astype(object)
    return pd.DataFrame(
        {
            "first": [ITEMS[code] for code in first],
            "second": [ITEMS[code] for code in second],
            "answer": answer.where(row % 7 > 0, "tie").to_numpy(),
            "prompt": frame["image"].to_numpy(dtype=object),
            "annotator": frame["annotator"].to_numpy(dtype=object),
        }
    )


def as_rankings(frame: pd.DataFrame) -> pd.DataFrame:
    """Each judgement ranks three or four items, chosen by its number; an absent attribute turns the order around."""
    rankings = []
    for number, judgement in enumerate(frame.itertuples()):
        row = int(judgement.row)
        ranked = [code for code in range(len(ITEMS)) if code != row % 5]
        ranks = {code: (code + row // 3) % len(ITEMS) * (1 if judgement.present else -1) for code in ranked}
        if row % 7 == 0:
            ranks[ranked[0]] = ranks[ranked[1]]
        rankings.append(
            pd.DataFrame(
                {
                    "ranking": number,
                    "item": [ITEMS[code] for code in ranked],
                    "rank": [ranks[code] for code in ranked],
                    "prompt": judgement.image,
                    "annotator": judgement.annotator,
                }
            )
        )
    empty = pd.DataFrame(columns=["ranking", "item", "rank", "prompt", "annotator"])
    return pd.concat(rankings, ignore_index=True) if rankings else empty


def as_choices(frame: pd.DataFrame) -> pd.DataFrame:
    """Each judgement chooses some of four labels; a present attribute adds one."""
    row, present = frame["row"].to_numpy(dtype=int), frame["present"].to_numpy(dtype=int)
    chosen = [[ITEMS[code] for code in range(3) if number >> code & 1] for number in row % 8]
    return pd.DataFrame(
        {
            "image": frame["image"].astype(str).to_numpy() + "/" + frame["attribute"].astype(str).to_numpy(),
            "annotator": frame["annotator"].to_numpy(dtype=object),
            "labels": [
                [*labels, *ITEMS[3:]] if yes else labels for labels, yes in zip(chosen, present, strict=True)
            ],
        }
    ).astype({"labels": object})


def as_points(frame: pd.DataFrame) -> pd.DataFrame:
    """Each positive judgement is a point, placed by its content so that it moves with its row."""
    marked = frame[frame["present"] == 1]
    return pd.DataFrame(
        {
            "image": marked["image"].to_numpy(dtype=object),
            "attribute": marked["attribute"].to_numpy(dtype=object),
            "annotator": marked["annotator"].to_numpy(dtype=object),
            "x": marked["corner"].to_numpy(dtype=float) / 3,
            "y": 0.5,
            "width": 512,
            "height": 512,
        }
    )


def as_answers(frame: pd.DataFrame) -> pd.DataFrame:
    """Each judgement is an answer from 1 to 5 about one of four items; a present attribute adds one."""
    row, present = frame["row"].to_numpy(dtype=int), frame["present"].to_numpy(dtype=int)
    return pd.DataFrame(
        {
            "item": [ITEMS[code] for code in row % len(ITEMS)],
            "unit": frame["image"].to_numpy(dtype=object),
            "annotator": frame["annotator"].to_numpy(dtype=object),
            "value": 1 + row // 4 % 4 + present,
        }
    )


def as_probe(frame: pd.DataFrame) -> pd.DataFrame:
    """Each judgement is a model's answer about a scenario (its attribute) to one of two questions."""
    row, present = frame["row"].to_numpy(dtype=int), frame["present"].to_numpy(dtype=int)
    return pd.DataFrame(
        {
            "model": ["m" + str(code) for code in row % 2],
            "experiment": "walks",
            "scenario": frame["attribute"].to_numpy(dtype=object),
            "question": ["q" + str(code) for code in row // 2 % 2],
            "group": frame["identity_group"].to_numpy(dtype=object),
            "order": ["published" if code else "reversed" for code in row // 4 % 2],
            "outcome": [
                "plus" if yes else ("minus", "refused", "minus", "failed")[code]
                for yes, code in zip(present, row % 4, strict=True)
            ],
        }
    )


def as_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """Each judgement is a text of some words about a group; a present attribute is named."""
    row = frame["row"].to_numpy(dtype=int)
    attribute, present = frame["attribute"].astype(str), frame["present"].to_numpy(dtype=int)
    return pd.DataFrame(
        {
            "model": "m",
            "scenario": ["s" + str(code) for code in row % 3],
            "group": frame["identity_group"].to_numpy(dtype=object),
            "text": [
                f"word{code % 5} {name} {name}" if yes else f"word{code % 4}"
                for code, name, yes in zip(row, attribute, present, strict=True)
            ],
        }
    )


def as_words(frame: pd.DataFrame) -> pd.DataFrame:
    """Each judgement is a word of a document of its row about a group; a present attribute is the word."""
    row, groups = frame["row"].to_numpy(dtype=int), frame["identity_group"].astype(str)
    return pd.DataFrame(
        {
            "setting": ["s" + str(code) for code in row % 2],
            "letter": "",
            "descriptor": [f"{group}{code // 8 % 3}" for group, code in zip(groups, row, strict=True)],
            "document": row // 2,
            "word": [
                name if yes else f"word{code % 6}"
                for code, name, yes in zip(row, frame["attribute"].astype(str), frame["present"], strict=True)
            ],
        }
    )


def as_associations(frame: pd.DataFrame) -> pd.DataFrame:
    """Each judgement is an association of one of two models; a present attribute makes it significant."""
    row, groups = frame["row"].to_numpy(dtype=int), frame["identity_group"].astype(str)
    return pd.DataFrame(
        {
            "model": ["m" + str(code) for code in row % 2],
            "setting": "s",
            "dimension": "age",
            "descriptor": [f"{group}{code // 8}" for group, code in zip(groups, row, strict=True)],
            "word": ["w" + str(code) for code in row // 2 % 4],
            "significant": frame["present"].to_numpy(dtype=bool) | (row % 7 == 0),
            "bias_level": row // 3 % 5 + 1,
        }
    ).drop_duplicates()


def as_review(frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, int]]:
    """Answers that people read again: of every third the rules are not sure, and a present attribute is an error."""
    row, present = frame["row"].to_numpy(dtype=int), frame["present"].to_numpy(dtype=int)
    stratum = ["unsure" if number % 3 == 0 else "sure" for number in row]
    people = ["minus" if is_present else "plus" for is_present in present]
    return pd.DataFrame({"stratum": stratum, "rules": "plus", "people": people}), {
        "unsure": 900,
        "sure": 9_000,
    }


def as_levels(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """People's and a judge's bias levels of pairs: a present attribute adds one."""
    row, present = frame["row"].to_numpy(dtype=int), frame["present"].to_numpy(dtype=int)
    people = pd.DataFrame(
        {
            "pair": ["p" + str(code) for code in row // 3],
            "annotator": ["a" + str(code) for code in row % 3],
            "rating": 1 + row // 3 % 4 + present,
        }
    )
    judge = pd.DataFrame({"pair": people["pair"], "rating": 1 + row // 3 % 4})
    return people.drop_duplicates(["pair", "annotator"]), judge
