"""What a training shows: a bar for people at a terminal, a curve that grows in a notebook."""

from __future__ import annotations

from contextlib import closing

import IPython.display
import pytest

from coursekit.training import progress_bar
from coursekit.training.history import History


@pytest.fixture
def shown(monkeypatch):
    """Collect what a notebook would show: new pictures, and new states of one."""
    pictures = []

    class Handle:
        def update(self, image):
            pictures[-1].append(image)

    def show(image, display_id):
        pictures.append([image])
        return Handle()

    monkeypatch.setattr(progress_bar, "_in_notebook", lambda: True)
    monkeypatch.setattr(IPython.display, "display", show)
    return pictures


def rows(count: int) -> list[dict[str, float]]:
    return [{"step": step, "loss": 1 / step, "valid": 2 / step} for step in range(1, count + 1)]


def test_one_picture_grows(shown, monkeypatch):
    monkeypatch.setattr(progress_bar, "PAUSE", 0.0)
    history = History()
    with closing(progress_bar.Display("toy", history, 4, quiet=False)) as bar:
        for count in range(1, 5):
            history.curve = rows(count)
            bar.stepped()
            bar.evaluated()
    assert [len(states) for states in shown] == [3]  # one row is no curve yet
    assert all(state.data.startswith(b"\x89PNG") for state in shown[0])
    assert len({bytes(state.data) for state in shown[0]}) == 3


def test_fast_looks_are_drawn_once_at_the_end(shown, monkeypatch):
    monkeypatch.setattr(progress_bar, "PAUSE", 1000.0)  # whatever else the machine does
    history, looks = History(), 50
    with closing(progress_bar.Display("toy", history, looks, quiet=False)) as bar:
        for count in range(1, looks + 1):
            history.curve = rows(count)
            bar.evaluated()
    assert [len(states) for states in shown] == [1]  # fifty would take seconds of a training


def test_what_was_finished_before_is_drawn_once(shown):
    with closing(progress_bar.Display("toy", History(step=4, curve=rows(4)), 4, quiet=False)):
        pass
    assert [len(states) for states in shown] == [1]


def test_quiet_is_quiet(shown, capsys):
    history = History(curve=rows(3))
    with closing(progress_bar.Display("toy", history, 3, quiet=True)) as bar:
        bar.stepped()
        bar.evaluated()
    assert not shown and capsys.readouterr().err == ""
