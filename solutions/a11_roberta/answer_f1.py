"""How good is an answer that is almost the right one? Exact match and F1, as SQuAD counts them."""

from __future__ import annotations

from coursetools.questions import hidden, visible


def answer_f1(given, right):
    """Two answers, strings -> exact match, 0.0 or 1.0, and the F1 of their words, 0.0 to 1.0."""
    import string

    bags = []
    for text in (given, right):
        text = "".join(c for c in text.lower() if c not in string.punctuation)
        bags.append([word for word in text.split() if word not in ("a", "an", "the")])
    ours, theirs = bags
    exact = float(ours == theirs)
    if not ours or not theirs:
        return exact, exact
    shared = sum(min(ours.count(word), theirs.count(word)) for word in set(ours))
    return exact, 2 * shared / (len(ours) + len(theirs))


def _each(student, *pairs: str) -> list:
    """What comes out for each pair, "given|right"."""
    return [student.answer_f1(*pair.split("|")) for pair in pairs]


@visible("all, some or none of the words")
def some_words(student):
    pairs = ["Saul|Saul", "seven years|seven years of famine", "king of Judah|king David"]
    pairs += ["at night|in those days", "to Egypt with his sons|Egypt", "bread and wine|bread wine"]
    return _each(student, *pairs)


@visible("capitals and punctuation")
def cleaned(student):
    pairs = ["“Ark.|“ark", "apple, fig|Apple fig", "U.S.|us", "a well-known man|wellknown man"]
    pairs += ["don't|dont", "well-known|well known", "the king's|king", "a_b|ab"]
    return _each(student, *pairs)


@visible("articles, alone and inside words")
def articles(student):
    pairs = ["The Ark|ark", '"The" end|end', "(a) day|day", "other than the theme|or than me"]
    pairs += ["A|an", "AN end|THE end", "a the end|end", "the king of the Jews|king of Jews"]
    return _each(student, *pairs, "the A-team|ateam")


@visible("words that come twice, and another order")
def twice(student):
    pairs = ["holy holy holy|holy holy Lord", "to be or not to be|to be", "Lord|Lord Lord Lord God"]
    pairs += ["Moses and Aaron|Aaron and Moses", "day by day|by day", "eye for eye|for eye eye"]
    return _each(student, *pairs, "tooth tooth eye|eye eye tooth")


@visible("answers without words")
def without_words(student):
    return _each(student, "|", "the|!", "|a prophet", "Samuel|...", "The|Samuel", "an|")


def pairs(*texts):
    return [text.split("|") for text in texts]


@hidden("answers that share some of their words", weight=2)
def f1_some(student):
    texts = pairs(
        "the king of Babylon|Nebuchadnezzar king of Babylon",
        "forty days and forty nights|forty days",
        "he went down into Egypt|down to Egypt",
        "a land of wheat, and barley, and vines|wheat and barley",
        "nobody|three hundred men",
    )
    return [student.answer_f1(*both) for both in texts]


@hidden("words that come several times", weight=2)
def f1_bags(student):
    texts = pairs("la la la la|la la", "a b a b b|b b b", "so so as so|so as as", "x y x|y x y")
    return [student.answer_f1(*both) for both in texts]


@hidden("quotation marks, brackets, apostrophes, hyphens", weight=2)
def f1_marks(student):
    texts = pairs(
        '(The) "Lord"|lord',
        "sister-in-law|sisterinlaw",
        "sister-in-law|sister in law",
        "Solomon's temple;|solomons temple",
        "3,000 men|3000 men",
        "the_ark|ark",
        "king_david|kingdavid",
        "[An] [A]|x",
        "vitamin-A the-end|vitamina theend",
        "£5 – or €6|5 or 6",
    )
    return [student.answer_f1(*both) for both in texts]


@hidden("articles, and words that have one inside")
def f1_articles(student):
    texts = pairs(
        "THE theatre|theatre", "an ant|ant", "Athena|the na", "banana a|banana", "a the an|an"
    )
    return [student.answer_f1(*both) for both in texts]


@hidden("without words on one side or both")
def f1_empty(student):
    texts = pairs("?|", "|?", "The!|a", "a|Job", "Job|…", "|")
    return [student.answer_f1(*both) for both in texts]


@hidden("much white space")
def f1_spaces(student):
    texts = pairs("\n to\tthe  sea |to sea", " |x", "a - b|b", "one  two|two one")
    return [student.answer_f1(*both) for both in texts]


@hidden("other languages: their articles stay")
def f1_languages(student):
    texts = pairs(
        "la maison|maison", "Das Haus|haus", "à la fin|la fin", "«Élie»|élie", "Straße|strasse"
    )
    return [student.answer_f1(*both) for both in texts]
