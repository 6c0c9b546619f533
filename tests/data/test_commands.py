"""SCAN: the grammar's whole language, and what each split hides, against the published counts."""

import pytest

from coursekit.data.commands import (
    ACTIONS,
    END,
    SPECIAL,
    WORDS,
    commands,
    decode,
    encode,
    holds_words,
    phrases,
    split_commands,
    word_ids,
)

SIZES = {  # lines of the files that Lake and Baroni published: to learn from, to be asked
    "random": (16_728, 4_182),
    "length": (16_990, 3_920),
    "jump": (14_670, 7_706),
    "turn left": (21_890, 1_208),
}
SAID = {  # from the paper's Figure 1 and from its definitions
    "jump": "JUMP",
    "jump left": "LTURN JUMP",
    "jump around right": "RTURN JUMP RTURN JUMP RTURN JUMP RTURN JUMP",
    "turn left twice": "LTURN LTURN",
    "jump thrice": "JUMP JUMP JUMP",
    "jump opposite left and walk thrice": "LTURN LTURN JUMP WALK WALK WALK",
    "jump opposite left after walk around left": "LTURN WALK LTURN WALK LTURN WALK LTURN WALK "
    "LTURN LTURN JUMP",
    "turn around right": "RTURN RTURN RTURN RTURN",
    "turn opposite right": "RTURN RTURN",
}


def test_all_commands_are_there_once():
    every = commands()
    assert len(every) == len({command.text for command in every}) == 20_910
    assert len(phrases()) == 102
    assert len(every) == 102 + 2 * 102**2
    assert max(len(command.actions) for command in every) == 48
    assert max(len(command.text.split()) for command in every) == 9


@pytest.mark.parametrize(("text", "actions"), SAID.items())
def test_what_a_command_asks_for(text, actions):
    (command,) = (command for command in commands() if command.text == text)
    assert command.actions == tuple(actions.split())


def carried_out(text):
    """Read a command from the outside in, the other way round than it was made."""
    for word in ("and", "after"):
        if f" {word} " in text:
            first, second = (carried_out(part) for part in text.split(f" {word} "))
            return first + second if word == "and" else second + first
    *front, last = text.split()
    if last in ("twice", "thrice"):
        return carried_out(" ".join(front)) * (2 if last == "twice" else 3)
    verb, *rest = text.split()
    act = [] if verb == "turn" else [verb.upper()]
    if not rest:
        return act
    turn = ["LTURN" if rest[-1] == "left" else "RTURN"]
    if rest[0] == "around":
        return (turn + act) * 4
    return turn * (2 if rest[0] == "opposite" else 1) + act


def test_every_command_means_what_a_reader_of_the_grammar_finds():
    for command in commands():
        assert list(command.actions) == carried_out(command.text), command.text


@pytest.mark.parametrize("name", SIZES)
def test_sizes_are_the_published_ones(name):
    learned, asked = split_commands(name)
    assert (len(learned), len(asked)) == SIZES[name]
    assert not {c.text for c in learned} & {c.text for c in asked}
    assert {c.text for c in learned} | {c.text for c in asked} == {c.text for c in commands()}


def test_each_split_hides_what_it_says():
    learned, asked = split_commands("length")
    assert max(len(c.actions) for c in learned) == 22 and min(len(c.actions) for c in asked) == 24
    for name in ("jump", "turn left"):
        learned, asked = split_commands(name)
        assert all(holds_words(c, name) and c.text != name for c in asked)
        alone = [c for c in learned if holds_words(c, name)]
        assert {c.text for c in alone} == {name}
        assert len(alone) / len(learned) == pytest.approx(0.1, abs=1e-4)
        seen = {word for c in learned for word in c.text.split()}
        assert seen == set(WORDS[len(SPECIAL) :])  # no word of the test is new


def test_holds_compares_whole_words():
    left = {c.text: holds_words(c, "turn left") for c in phrases()}
    assert left["turn left"] and left["turn left twice"]
    assert not left["turn opposite left"] and not left["jump left"]


def test_the_random_split_follows_its_seed():
    first, again, other = (split_commands("random", seed=seed)[1] for seed in (0, 0, 1))
    assert first == again and first != other
    with pytest.raises(ValueError, match="split must be one of random, length, jump, turn left"):
        split_commands("left")


def test_ids_go_there_and_back():
    for command in commands()[::97]:
        source, target = encode(command)
        assert " ".join(WORDS[number] for number in source) == command.text
        assert decode([*target, END, 5, 5]) == decode(target) == command.actions
    assert len(set(WORDS)) == len(WORDS) == 16 and len(set(ACTIONS)) == len(ACTIONS) == 9


def test_bad_words_and_ids_are_named():
    with pytest.raises(ValueError, match="found hop"):
        word_ids("hop twice")
    with pytest.raises(ValueError, match="found nothing"):
        word_ids(" ")
    with pytest.raises(ValueError, match="found <end>"):
        word_ids("walk <end>")
    with pytest.raises(ValueError, match="between 0 and 8, found 9"):
        decode([3, 9])
