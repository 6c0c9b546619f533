"""How good is an answer that is almost the right one? Exact match and F1, as SQuAD counts them."""

from __future__ import annotations

from coursekit.exercises.question import Question


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


QUESTION = Question(
    name="answer_f1",
    title="Almost the right answer",
    points=4,
    difficulty=2,
    minutes=25,
    page="roberta.html#sec-roberta-transfer",
    hint="Write the cleaning first and print what it gives: a list of words. With two such lists "
    "the exact match is one comparison. For F1 count, for each different word, how often both "
    "lists have it. Then ask what happens if a list is empty.",
    reference=answer_f1,
    forbidden=("coursekit",),
)


def _each(student, *pairs: str) -> list:
    """What comes out for each pair, "given|right"."""
    return [student.answer_f1(*pair.split("|")) for pair in pairs]


@QUESTION.visible(says="all, some or none of the words")
def some_words(student):
    pairs = ["Saul|Saul", "seven years|seven years of famine", "king of Judah|king David"]
    pairs += ["at night|in those days", "to Egypt with his sons|Egypt", "bread and wine|bread wine"]
    return _each(student, *pairs)


@QUESTION.visible(says="capitals and punctuation")
def cleaned(student):
    pairs = ["“Ark.|“ark", "apple, fig|Apple fig", "U.S.|us", "a well-known man|wellknown man"]
    pairs += ["don't|dont", "well-known|well known", "the king's|king", "(Saul)!|saul"]
    return _each(student, *pairs)


@QUESTION.visible(says="articles, alone and inside words")
def articles(student):
    pairs = ["The Ark|ark", '"The" end|end', "(a) day|day", "other than the theme|or than me"]
    pairs += ["A|an", "AN end|THE end", "a the end|end", "the king of the Jews|king of Jews"]
    return _each(student, *pairs, "the A-team|ateam")


@QUESTION.visible(says="words that come twice, and another order")
def twice(student):
    pairs = ["holy holy holy|holy holy Lord", "to be or not to be|to be", "Lord|Lord Lord Lord God"]
    pairs += ["Moses and Aaron|Aaron and Moses", "day by day|by day", "eye for eye|for eye eye"]
    return _each(student, *pairs, "tooth tooth eye|eye eye tooth")


@QUESTION.visible(says="answers without words")
def without_words(student):
    return _each(student, "|", "the|!", "|a prophet", "Samuel|...", "The|Samuel", "an|")


@QUESTION.visible(says="spaces, and marks that are no punctuation of Python's")
def marks(student):
    pairs = ["  two   words |two words", "two\twords\n|two words", "«oui»|oui", "5 €|5", "a_b|ab"]
    pairs += ["l’homme|lhomme", "30 % of it|30 of it", "Élie|élie", "Élie|elie"]
    return _each(student, *pairs)


QUESTION.mistake(
    "sets for bags",
    old="shared = sum(min(ours.count(word), theirs.count(word)) for word in set(ours))",
    new="ours, theirs = set(ours), set(theirs)\n    shared = len(ours & theirs)",
    hint="You make sets of the words, so that a word counts once, however often it comes. Count "
    "each as often as both answers have it.",
)

for name, new, hint in (
    (
        "only the shared words as a set",
        "len(set(ours) & set(theirs))",
        "The answers are counted with all their words, but the shared ones as a set. A word that "
        "both have twice is shared twice.",
    ),
    (
        "shared, seen from one side",
        "sum(word in theirs for word in ours)",
        "You count each word of the given answer that the right one has. If it says a word three "
        "times and the right one once, one of them is shared.",
    ),
    (
        "shared, seen from the other side",
        "sum(word in ours for word in theirs)",
        "You count each word of the right answer that the given one has. If the right one says a "
        "word three times and the given one once, one of them is shared.",
    ),
    (
        "word beside word",
        "sum(a == b for a, b in zip(ours, theirs))",
        "You compare the first word with the first, the second with the second. A bag has no "
        "order: an answer that is shifted by one word still shares its words.",
    ),
):
    QUESTION.mistake(
        name,
        old="sum(min(ours.count(word), theirs.count(word)) for word in set(ours))",
        new=new,
        hint=hint,
    )

QUESTION.mistake(
    "articles kept",
    old=' if word not in ("a", "an", "the")',
    new="",
    hint="You keep the articles. “the ark” and “ark” are the same answer: a, an and the are left "
    "out.",
)

QUESTION.mistake(
    "articles inside words",
    old='text.split() if word not in ("a", "an", "the")',
    new='text.replace("the", "").replace("an", "").replace("a", "").split()',
    hint="You remove the letters of an article wherever they stand, inside “other” too. Whole "
    "words are meant: split first.",
)

QUESTION.mistake(
    "articles before punctuation",
    old='text = "".join(c for c in text.lower() if c not in string.punctuation)\n'
    '        bags.append([word for word in text.split() if word not in ("a", "an", "the")])',
    new='kept = [word for word in text.lower().split() if word not in ("a", "an", "the")]\n'
    '        text = " ".join(kept)\n'
    '        text = "".join(c for c in text if c not in string.punctuation)\n'
    "        bags.append(text.split())",
    hint="You look for articles before the punctuation is gone, and miss one in quotation marks or "
    "before a comma. First letters, then punctuation, then articles.",
)

QUESTION.mistake(
    "articles before punctuation, by a pattern",
    old='text = "".join(c for c in text.lower() if c not in string.punctuation)\n'
    '        bags.append([word for word in text.split() if word not in ("a", "an", "the")])',
    new='import re\n        text = re.sub(r"\\b(a|an|the)\\b", " ", text.lower())\n'
    '        bags.append("".join(c for c in text if c not in string.punctuation).split())',
    hint="You look for articles before the punctuation is gone, and take the A out of “A-team”, "
    "which is one word. First letters, then punctuation, then articles.",
)

QUESTION.mistake(
    "each article once",
    old='bags.append([word for word in text.split() if word not in ("a", "an", "the")])',
    new="words = text.split()\n"
    '        for article in ("a", "an", "the"):\n'
    "            if article in words:\n"
    "                words.remove(article)\n"
    "        bags.append(words)",
    hint="You take out each article once: remove finds the first and stops. All of them go.",
)

QUESTION.mistake(
    "removed while walking",
    old='bags.append([word for word in text.split() if word not in ("a", "an", "the")])',
    new="words = text.split()\n"
    "        for word in words:\n"
    '            if word in ("a", "an", "the"):\n'
    "                words.remove(word)\n"
    "        bags.append(words)",
    hint="You remove words from the list while you walk along it, and step over the word behind "
    "each. Make a new list of those that stay.",
)

QUESTION.mistake(
    "articles before small letters",
    old="c for c in text.lower() if c not in string.punctuation)\n        bags.append([word for",
    new="c for c in text if c not in string.punctuation)\n        bags.append([word.lower() for",
    hint="You keep the articles that are written with a capital. Make the letters small before you "
    "look for them.",
)

QUESTION.mistake(
    "capitals kept",
    old="text.lower()",
    new="text",
    hint="Saul and saul are two words for you. Make all letters small first.",
)

QUESTION.mistake(
    "punctuation kept",
    old=" if c not in string.punctuation",
    new="",
    hint="You keep the punctuation, so that “ark.” is not “ark”.",
)

QUESTION.mistake(
    "a space for punctuation",
    old="c for c in text.lower() if c not in string.punctuation",
    new='" " if c in string.punctuation else c for c in text.lower()',
    hint="You put a space in place of each punctuation mark, and one word becomes two. The mark is "
    "taken out and nothing is put there: “well-known” is “wellknown”.",
)

QUESTION.mistake(
    "punctuation at the ends alone",
    old='text = "".join(c for c in text.lower() if c not in string.punctuation)\n'
    "        bags.append([word for word in text.split() if",
    new="words = [word.strip(string.punctuation) for word in text.lower().split()]\n"
    "        bags.append([word for word in words if word and",
    hint="You strip punctuation from the ends of words only. Marks inside a word go as well: "
    "“don't” is “dont”.",
)

QUESTION.mistake(
    "all that is no letter and no digit",
    old="if c not in string.punctuation",
    new="if c.isalnum() or c.isspace()",
    hint="You take out everything that is neither letter nor digit, such as «, ’ and €. Only the "
    "32 characters of string.punctuation go.",
)

QUESTION.mistake(
    "a regular expression for words",
    old="if c not in string.punctuation",
    new='if c.isalnum() or c.isspace() or c == "_"',
    hint="Your pattern, [^\\w\\s] perhaps, takes out «, ’ and € too, and leaves the underscore. "
    "Only the 32 characters of string.punctuation go.",
)

QUESTION.mistake(
    "words found by a pattern",
    old='text = "".join(c for c in text.lower() if c not in string.punctuation)\n'
    "        bags.append([word for word in text.split() if",
    new='text = "".join(c if c.isalnum() or c == "_" else " " for c in text.lower())\n'
    "        bags.append([word for word in text.split() if",
    hint="Your pattern, \\w+ perhaps, makes two words where a mark stands inside one. First take "
    "out the characters of string.punctuation, then split at spaces.",
)

QUESTION.mistake(
    "split at each space",
    old="text.split()",
    new='text.split(" ")',
    hint="Where two spaces meet you find an empty word, and split(' ') leaves tabs alone. split() "
    "without an argument splits at any stretch of white space.",
)

QUESTION.mistake(
    "characters for words",
    old="ours, theirs = bags",
    new='ours, theirs = (list("".join(bag)) for bag in bags)',
    hint="You count characters. The bags are of words: split the text.",
)

for name, new, hint in (
    (
        "exact as it was typed",
        "float(given == right)",
        "Your exact match compares the answers as they were typed. They are cleaned first, for "
        "both numbers.",
    ),
    (
        "exact without order",
        "float(sorted(ours) == sorted(theirs))",
        "Your exact match does not see the order of the words. F1 does not either; that is what "
        "makes them two numbers.",
    ),
):
    QUESTION.mistake(name, old="float(ours == theirs)", new=new, hint=hint)

QUESTION.mistake(
    "the exact match averaged in",
    old="2 * shared / (len(ours) + len(theirs))",
    new="(exact + 2 * shared / (len(ours) + len(theirs))) / 2",
    hint="Your F1 is the mean of F1 and exact match. They are two numbers, reported side by side.",
)

QUESTION.mistake(
    "two empty answers are worth nothing",
    old="return exact, exact",
    new="return exact, 0.0",
    hint="Two answers without words have F1 0 in yours. They agree: both say that there is no "
    "answer. That is a 1.",
)

QUESTION.mistake(
    "nothing for two empty answers",
    old="return exact, exact",
    new="return 0.0, 0.0",
    hint="Two answers without words are worth nothing in yours. They agree: both say that there is "
    "no answer. Each number is 1.",
)

QUESTION.mistake(
    "an empty answer divides by zero",
    old="    if not ours or not theirs:\n        return exact, exact\n",
    new="",
    hint="Two answers without words make you divide by zero. They agree, so both numbers are 1.",
)


@QUESTION.mistake(
    "precision divides by zero",
    hint="Where no word is shared, or an answer has no words, you divide by zero: by a length, or "
    "by the sum of precision and recall. Ask before you divide.",
)
def divides(given, right):
    import string

    bags = []
    for text in (given, right):
        text = "".join(c for c in text.lower() if c not in string.punctuation)
        bags.append([word for word in text.split() if word not in ("a", "an", "the")])
    ours, theirs = bags
    shared = sum(min(ours.count(word), theirs.count(word)) for word in set(ours))
    precision, recall = shared / len(ours), shared / len(theirs)
    return float(ours == theirs), 2 * precision * recall / (precision + recall)


for name, new, hint in (
    (
        "precision alone",
        "shared / len(ours)",
        "You divide by the words of the given answer: that is precision. Who says one right word "
        "of twenty would have it all; recall belongs to it.",
    ),
    (
        "recall alone",
        "shared / len(theirs)",
        "You divide by the words of the right answer: that is recall. Who recites the whole "
        "passage would have it all; precision belongs to it.",
    ),
    (
        "the plain mean",
        "(shared / len(ours) + shared / len(theirs)) / 2",
        "You take the plain mean of precision and recall. F1 is their harmonic mean, which is low "
        "as soon as one of them is.",
    ),
    (
        "shared of all words",
        "shared / (len(ours) + len(theirs) - shared)",
        "You divide by the words of both together, the shared ones once: that is Jaccard's "
        "measure. F1 is the harmonic mean of precision and recall.",
    ),
):
    QUESTION.mistake(name, old="2 * shared / (len(ours) + len(theirs))", new=new, hint=hint)

QUESTION.mistake(
    "in percent",
    old="return exact, 2 * shared",
    new="return 100 * exact, 100 * 2 * shared",
    hint="Your numbers are in percent, as papers print them. Here they lie between 0 and 1.",
)

QUESTION.mistake(
    "a truth for a number",
    old="float(ours == theirs)",
    new="(ours == theirs)",
    hint="Your exact match is True or False. A number is asked for, 1.0 or 0.0: a mean is taken "
    "over it later.",
)

QUESTION.mistake(
    "F1 first",
    old="return exact, 2 * shared / (len(ours) + len(theirs))",
    new="return 2 * shared / (len(ours) + len(theirs)), exact",
    hint="Your two numbers have changed places: the exact match comes first.",
)
