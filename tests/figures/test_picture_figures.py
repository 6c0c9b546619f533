"""Figures in which models of pictures run: by hand, by keys, by address, and equal to Python's."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch

from coursekit.analysis.capture import capture
from coursekit.analysis.inpainting import fill_hidden, paint_from_neighbours, painting_error
from coursekit.boxes.geometry import iou
from coursekit.data.fashion import NAMES
from coursekit.data.scenes import MOST
from coursekit.data.scenes import NAMES as KINDS
from coursekit.figures.live.detection import START, detect
from coursekit.figures.live.emoji_scene import composed, twelve
from coursekit.figures.live.linear_guess import linear_painter
from coursekit.figures.live.painting import order, painted
from coursekit.figures.live.patch_attention import seen_by_vit
from coursekit.figures.live.patch_grid import PATCH, first_pictures, mean_picture
from coursekit.training.pictures import as_input
from coursekit.training.records import trained


def slide(page: Any, place: int, name: str = "Hidden") -> None:
    page.get_by_role("slider", name=name).fill(str(place))


def address(page: Any) -> str:
    """Return what the address says once it has followed."""
    page.wait_for_timeout(400)
    return page.url.partition(".html")[2]


def cell(page: Any, row: int, column: int) -> Any:
    return page.locator(".patches button").nth(7 * (row - 1) + column - 1)


def said(page: Any) -> str:
    return page.get_by_role("status").inner_text()


# --- The autoencoder ---


def errors(page: Any) -> list[float]:
    return [float(text) for text in page.locator(".chip small").all_inner_texts()]


def hidden(page: Any) -> list[int]:
    pressed = "(all) => all.flatMap((one, n) => one.ariaPressed === 'true' ? [n] : [])"
    return page.locator(".patches button").evaluate_all(pressed)


def expected_errors(kind: int, patches: list[int]) -> list[float]:
    """By how many grey levels each painter is off, in the order of the figure."""
    picture = as_input(first_pictures().images[kind : kind + 1])
    masked = torch.zeros(1, 49, dtype=torch.bool)
    masked[0, patches] = True
    guesses = (
        painted(picture, patches),
        linear_painter().paint(picture, masked, PATCH),
        paint_from_neighbours(picture, masked, PATCH),
        fill_hidden(picture, as_input(mean_picture()[None]), masked, PATCH),
    )
    return [127.5 * painting_error(guess, picture, masked, PATCH) for guess in guesses]


def near(found: list[float], expected: list[float]) -> bool:
    """Whether errors agree to a tenth of a grey level; those of the linear guess to two."""
    assert len(found) == len(expected) == 4
    most = (0.06, 0.2, 0.06, 0.06)  # the page has its covariance in 16 bits
    return all(abs(f - e) <= m for f, e, m in zip(found, expected, most, strict=True))


def test_what_is_on_the_canvas_is_the_painting(open_page):
    page = open_page("painting")
    read = """() => [...document.querySelector('[aria-label="What is painted"]').getContext("2d")
      .getImageData(0, 0, 28, 28).data].filter((_, n) => n % 4 === 0)"""
    patches = order()[:37]
    picture = as_input(first_pictures().images[9:])
    grey = (painted(picture, patches).clamp(-1, 1) + 1) * 127.5
    found = torch.tensor(page.evaluate(read)).reshape(1, 1, 28, 28)
    torch.testing.assert_close(found.float(), grey, rtol=0, atol=0.6)


@pytest.mark.parametrize("count", [1, 12, 37, 48, 49])
def test_the_linear_guess_is_the_notebooks(open_page, count):
    """What is packed and solved in the page paints what `LinearPainter` paints."""
    page = open_page("painting", f"?painting.painter=linear&painting.hidden={order()[:count]}")
    read = """() => [...document.querySelector('[aria-label="What is painted"]').getContext("2d")
      .getImageData(0, 0, 28, 28).data].filter((_, n) => n % 4 === 0)"""
    picture = as_input(first_pictures().images[9:])
    masked = torch.zeros(1, 49, dtype=torch.bool)
    masked[0, order()[:count]] = True
    guess = linear_painter().paint(picture, masked, PATCH)
    grey = (guess.clamp(-1, 1) + 1) * 127.5
    found = torch.tensor(page.evaluate(read)).reshape(1, 1, 28, 28)
    torch.testing.assert_close(found.float(), grey, rtol=0, atol=1)


def test_patches_are_hidden_by_hand_and_by_keys(open_page, drag):
    page = open_page("painting", "?painting.hidden=[]")
    assert "so there is nothing to paint" in said(page)
    drag(cell(page, 2, 2), cell(page, 2, 6))
    assert hidden(page) == [8, 9, 10, 11, 12]
    assert near(errors(page), expected_errors(9, hidden(page)))
    drag(cell(page, 2, 3), cell(page, 4, 3))  # one that is hidden: the stroke shows
    assert hidden(page) == [8, 10, 11, 12]
    cell(page, 4, 3).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    assert hidden(page) == [8, 10, 11, 12, 31]
    assert cell(page, 5, 4).get_attribute("aria-label") == "row 5, column 4, hidden"
    assert said(page).startswith("5 of 49 patches of the ankle boot")
    followed = address(page)
    assert hidden(open_page("painting", followed)) == hidden(page)


def test_the_slider_hides_more_and_more_and_nothing_can_be_left(open_page):
    page = open_page("painting")
    slide(page, 12)
    assert hidden(page) == sorted(order()[:12])
    slide(page, 49)
    own, _, nearby, mean = page.locator(".chip small").all_inner_texts()
    assert nearby == "—" and float(own) > float(mean)  # it has never met a picture without patches
    page.get_by_role("button", name="pixels nearby").click()
    slide(page, 36)
    page.get_by_role("button", name="Hide others").click()
    assert len(hidden(page)) == 36 and hidden(page) != sorted(order()[:36])
    page.get_by_role("button", name="The first ones again").click()
    assert hidden(page) == sorted(order()[:36])


def test_the_answer_to_its_question_is_seven_and_none(open_page):
    """And on the way all painters are off by what Python says."""
    page = open_page("painting")
    assert hidden(page) == sorted(order()[:37])
    closer = {37: 0, 12: 0}
    for count in closer:
        slide(page, count)
        page.locator(".thumbs [aria-pressed=true]").focus()
        for kind in reversed(range(10)) if count == 37 else range(10):
            assert f"{count} of 49 patches of the {NAMES[kind]} are hidden." in said(page)
            found = errors(page)
            assert near(found, expected_errors(kind, order()[:count]))
            closer[count] += found[0] < found[1]
            page.keyboard.press("ArrowLeft" if count == 37 else "ArrowRight")
    assert closer == {37: 7, 12: 0}


def test_what_nobody_can_read_changes_nothing(open_page):
    odd = '?painting.hidden=["x",-1,99,1.5]&painting.picture=77&painting.painter=toString'
    page = open_page("painting", odd)
    assert hidden(page) == [] and page.locator(".thumbs [aria-pressed=true]").count() == 1


# --- The ViT ---


def shown_shares(page: Any) -> dict[str, str]:
    rows = page.locator(".bars button")
    tokens, shares = (rows.locator(f".{part}").all_inner_texts() for part in ("token", "share"))
    return dict(zip(tokens, shares, strict=True))


def as_shown(shares: torch.Tensor) -> dict[str, str]:
    best = shares.topk(4)
    return {
        NAMES[kind]: f"{100 * share:.1f}%" if share >= 0.0005 else "<0.1%"
        for kind, share in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    }


def told(page: Any) -> list[str]:
    """What is said of each patch behind its place."""
    label = "(all) => all.map((one) => one.ariaLabel.split(', ').slice(2).join(', '))"
    return page.locator(".patches button").evaluate_all(label)


def test_its_answers_and_looks_are_the_models(open_page):
    page = open_page("patch_attention")
    assert shown_shares(page) == as_shown(seen_by_vit(2)[0])
    cell(page, 4, 4).click()
    page.get_by_role("button", name="2.3").click()
    weights = seen_by_vit(2)[1][1][2][25]  # of the patch in the middle, the class token first
    found = [0 if text == "<0.1%" else float(text[:-1]) for text in told(page)]
    assert found == pytest.approx((100 * weights[1:]).tolist(), abs=0.06)
    assert page.locator(".chip small").inner_text() == f"{100 * weights[0]:.1f}%"
    assert "Block 2, head 3: row 4, column 4 gives" in said(page)
    again = open_page("patch_attention", address(page))
    assert told(again) == told(page) and said(again) == said(page)


def test_a_patch_that_is_taken_out_is_not_read(open_page, drag):
    page = open_page("patch_attention")
    page.get_by_label("Pressing a patch").select_option("take")
    drag(cell(page, 1, 5), cell(page, 1, 7))
    left = [n for n in range(49) if n not in (4, 5, 6)]
    shares, blocks = seen_by_vit(2, left)
    assert shown_shares(page) == as_shown(shares)
    assert [n for n, text in enumerate(told(page)) if text == "taken out"] == [4, 5, 6]
    found = float(told(page)[48][:-1])
    assert found == pytest.approx(100 * float(blocks[2][0][0, -1]), abs=0.06)
    assert "with 3 of 49 patches taken out" in said(page)
    drag(cell(page, 1, 5), cell(page, 1, 6))
    assert "with 1 of 49 patches taken out" in said(page)
    page.get_by_role("button", name="Put all patches back").click()
    assert shown_shares(page) == as_shown(seen_by_vit(2)[0])


def test_the_answer_to_its_question_is_a_patch_that_the_class_token_hardly_looks_at(open_page):
    page = open_page("patch_attention", "?patch_attention.shown=effect")
    page.get_by_text("has least").wait_for()
    every = range(49)
    left = torch.tensor([[other for other in every if other != n] for n in every])
    picture = as_input(first_pictures().images[2:3])
    with torch.no_grad():
        alone = trained("vit")(picture.expand(49, -1, -1, -1), visible=left).softmax(dim=-1)
    change = 100 * (alone - seen_by_vit(2)[0])[:, 2]
    found = [float(text.removesuffix(" points").replace("−", "-")) for text in told(page)]
    assert found == pytest.approx(change.tolist(), abs=0.06)
    assert "“pullover” has least, 19.8%, without row 1, column 5." in said(page)
    assert [n for n in every if alone[n].argmax() == NAMES.index("shirt")] == [4]
    for head in seen_by_vit(2)[1][2]:
        assert head[0, 1:].argmax() != 4 and head[0, 5] < 0.04


def test_an_odd_address_of_the_vit_and_a_picture_without_patches(open_page):
    odd = '?patch_attention.hidden=["x",0,99]&patch_attention.block=9&patch_attention.query=-4'
    page = open_page("patch_attention", f"{odd}&patch_attention.kind=constructor")
    assert shown_shares(page) == as_shown(seen_by_vit(2)[0])
    nothing = json.dumps(list(range(1, 50))).replace(" ", "")
    page = open_page("patch_attention", f"?patch_attention.hidden={nothing}")
    assert shown_shares(page) == as_shown(seen_by_vit(2, [])[0])
    assert page.locator(".chip small").inner_text() == "100.0%"


# --- The detector ---

ON_CANVAS = """() => [...document.querySelector(".stage canvas").getContext("2d")
  .getImageData(0, 0, 64, 64).data].filter((_, n) => n % 4 !== 3)"""


def wait_for_boxes(page: Any, words: str) -> None:
    """Wait until what is found is said."""
    page.get_by_role("status").filter(has_text=words).wait_for()


def rows(page: Any) -> list[tuple[str, str, int]]:
    """Kind, share and query of each box that is shown."""
    lines = page.locator(".found button").all()
    cells = [line.locator("span").all_inner_texts() for line in lines]
    return [(kind, share, int(query.split()[1])) for kind, share, query, _ in cells]


def on_canvas(page: Any) -> torch.Tensor:
    pixels = torch.tensor(page.evaluate(ON_CANVAS), dtype=torch.uint8)
    return pixels.reshape(64, 64, 3).permute(2, 0, 1)


def rows_of(scene: torch.Tensor, least: float = 0.5) -> list[tuple[str, str, int]]:
    """What PyTorch finds on a scene, as a row says it."""
    objects = detect(scene)
    order = objects.scores.argsort(descending=True)
    return [
        (KINDS[objects.labels[n]], f"{100 * objects.scores[n]:.1f}%", n)
        for n in order.tolist()
        if objects.scores[n] >= least
    ]


def matched(scene: Any) -> set[int]:
    """Which of a scene's objects have a box of their kind that overlaps by half or more."""
    objects = detect(scene.image)
    firm = objects.scores >= 0.5
    same = objects.labels[firm][:, None] == scene.labels  # (boxes, objects)
    near = iou(objects.boxes[firm][:, None], scene.boxes) >= 0.5
    return set((same & near).any(dim=0).nonzero()[:, 0].tolist())


def test_a_scene_and_its_boxes_are_pythons(open_page):
    page = open_page("detection")
    wait_for_boxes(page, "3 of 3 emoji found with a share of 50% or more, and 1 of 4 boxes")
    for photo in ("rocket", "coins"):
        scene = composed(START, photo).image
        assert (on_canvas(page).int() - scene.int()).abs().max() <= 1  # rounded in another order
        assert rows(page) == rows_of(on_canvas(page))
        page.locator(".detection select").select_option("coins")
        wait_for_boxes(page, "0 of 3 boxes")
    drawn = page.locator(".box rect").evaluate_all(
        "(all) => all.map((one) => ['x', 'y', 'width', 'height'].map((n) => +one.getAttribute(n)))"
    )
    objects = detect(on_canvas(page))
    firm = [row[2] for row in rows(page)]
    corners = torch.tensor(drawn)
    corners[:, 2:] += corners[:, :2]
    torch.testing.assert_close(corners, objects.boxes[firm], rtol=0, atol=0.064)  # 1e-3 of 64


def test_an_emoji_is_moved_made_larger_and_removed(open_page, drag):
    page = open_page("detection")
    wait_for_boxes(page, "3 of 3 emoji found")
    cat = page.get_by_role("button", name="cat at")
    before = cat.get_attribute("aria-label")
    cat.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowDown")
    x, y = (int(n) for n in before.split(" at ")[1].split(";")[0].split(", "))
    assert cat.get_attribute("aria-label").startswith(f"cat at {x + 1}, {y + 5};")
    slide(page, 0, "Size")
    assert page.get_by_role("slider", name="Size").get_attribute("aria-valuetext") == "8 pixels"
    drag(page.get_by_role("button", name="bus at"), (0, 0))
    assert page.get_by_role("button", name="bus at 0, 0;").count() == 1
    items = [("cat", 7, 13, 8), ("bus", 0, 0, 20), START[2]]
    assert (on_canvas(page).int() - composed(items).image.int()).abs().max() <= 1
    cat.focus()
    page.keyboard.press("Delete")
    wait_for_boxes(page, "of 2 emoji")
    page.get_by_role("button", name="add: tree").click()
    wait_for_boxes(page, "of 3 emoji")
    again = open_page("detection", address(page))
    wait_for_boxes(again, "of 3 emoji")
    assert torch.equal(on_canvas(again), on_canvas(page)) and rows(again) == rows(page)
    for _ in range(3):
        page.get_by_role("button", name="Remove", exact=True).click()
    wait_for_boxes(page, "0 of 0 emoji")
    assert (on_canvas(page).int() - composed([]).image.int()).abs().max() == 0


def test_the_answer_to_its_question_is_eight_and_a_row_shows_where_its_query_looks(open_page):
    page = open_page("detection")
    page.get_by_role("button", name="All twelve").click()
    wait_for_boxes(page, "of 12 emoji")
    assert MOST == 6 and len(matched(composed(twelve()))) == 8
    assert said(page).startswith("8 of 12 emoji found with a share of 50% or more")
    assert page.locator(".looks rect").count() == 0
    page.locator(".found button").first.click()
    strengths = "(all) => all.map((one) => Number(one.getAttribute('fill-opacity')))"
    shown = page.locator(".looks rect").evaluate_all(strengths)
    with torch.no_grad():
        seen = capture(trained("detector"), on_canvas(page)[None] / 127.5 - 1)
    map_ = seen.weights["decoder.cross_attention"][-1][0, :, rows(page)[0][2]].mean(dim=0)
    assert shown == pytest.approx((0.85 * map_ / map_.max()).tolist(), abs=2e-3)
    slide(page, 1, "Shown from")
    assert rows(page) == rows_of(on_canvas(page), 0.05)


def test_an_odd_address_of_the_detector_changes_nothing(open_page):
    odd = '?detection.items=[["cat",1],["nobody",1,1,9],["cat",99,-5,900],7]&detection.chosen=-3'
    page = open_page("detection", f"{odd}&detection.photo=toString&detection.query=99")
    wait_for_boxes(page, "of 1 emoji")
    assert page.locator(".item").count() == 1
