"""A live figure is whole in itself, and the same module is a widget where anywidget is."""

from __future__ import annotations

import json
import re
import sys
from types import ModuleType, SimpleNamespace

import pytest

from coursekit.figures import new_figure
from coursekit.figures.live.figure import Live, Model, Packed
from coursekit.figures.live.flipbook import flipbook


def test_its_html_has_picture_state_and_module_and_nothing_ends_its_script():
    live = Live("flipbook", {"name": "</script><b>", "labels": ["1"]}, '<img alt="One.">')
    shown = live.html()
    assert shown.count("</script>") == 2 and "<b>" not in shown
    assert '<div class="live-still"><img alt="One."></div>' in shown
    assert json.loads(script(shown)) == {"module": live.module, "state": live.state}
    identity = re.search(r'id="(live-\w+)"', shown)[1]
    assert f'getElementById("{identity}")' in shown and "IDENTITY" not in shown
    assert Live("flipbook", {"name": "other"}, "").html().count(identity) == 0


def test_without_anywidget_it_is_html(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    bundle = Live("flipbook", {}, "")._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}


KEPT = Packed(b"\x00\x01", {"tokens": ["a"]})
KEEPER = Model("writer", lambda: KEPT)


def test_a_page_names_the_model_and_a_notebook_has_it(monkeypatch):
    live = Live("flipbook", {"index": 0}, "", model=KEEPER, linked=("index",))
    page, alone = (json.loads(script(live.html(whole=whole))) for whole in (False, True))
    assert page["model"] == "writer" and page["state"] == {"index": 0}
    assert page["name"] == "flipbook" and page["linked"] == ["index"]
    assert alone["state"] == {"index": 0, "weights": "AAE=", "tokenizer": KEPT.tokenizer}
    assert "model" not in alone
    monkeypatch.setitem(sys.modules, "anywidget", None)
    assert live._repr_mimebundle_()["text/html"] == live.html(whole=True)


def script(shown: str) -> str:
    return re.search(r'<script type="application/json">(.*?)</script>', shown, re.DOTALL)[1]


def test_with_anywidget_the_same_module_is_a_widget(monkeypatch):
    class AnyWidget:
        def _repr_mimebundle_(self):
            return {"widget": type(self)._esm, "text/html": "theirs"}

    monkeypatch.setitem(sys.modules, "anywidget", SimpleNamespace(AnyWidget=AnyWidget))
    traits = ModuleType("traitlets")
    traits.Any = traits.Bytes = lambda value: SimpleNamespace(tag=lambda sync: (value, sync))
    monkeypatch.setitem(sys.modules, "traitlets", traits)
    live = Live("flipbook", {"index": 3}, "")
    bundle = live._repr_mimebundle_()
    assert bundle["widget"] == live.module and bundle["text/html"] == live.html()
    assert type(live.widget()).index == (3, True)
    live = Live("flipbook", {"index": 3}, "<img>", model=KEEPER)
    assert type(live.widget()).weights == (KEPT.weights, True)
    assert live._repr_mimebundle_()["text/html"] == "<img>"  # the model is in the widget


def pages(count: int) -> list:
    return [new_figure(width=2, height=1)[0] for _ in range(count)]


def test_a_flipbook_holds_its_pages():
    live = flipbook(pages(2), labels=[0.1, 0.2], name="width", alt="A line")
    assert live.state["labels"] == ["0.1", "0.2"] and live.state["index"] == 0
    assert live.state["alts"] == ["A line (width: 0.1)", "A line (width: 0.2)"]
    assert all(one.startswith("data:image/webp;base64,") for one in live.state["pictures"])
    assert re.search(r'<img src="data:[^"]+" alt="A line \(width: 0\.1\)" width="220"', live.still)


@pytest.mark.parametrize(
    ("count", "labels", "alt", "words"),
    [
        (2, [1], "A line", "one label a frame: 2 and 1 found"),
        (0, [], "A line", "one label a frame: 0 and 0 found"),
        (2, [1, 1], "A line", "labels that differ"),
        (1, [1], " ", "an alt text for each of its 1 frames"),
        (2, [1, 2], ["One."], "an alt text for each of its 2 frames"),
    ],
)
def test_bad_input_gets_a_sentence(count, labels, alt, words):
    with pytest.raises(ValueError, match=words):
        flipbook(pages(count), labels=labels, name="width", alt=alt)
