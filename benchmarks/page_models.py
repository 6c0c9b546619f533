"""How long our models take for a token in a page, in Chromium on one core.

    python benchmarks/page_models.py [--tokens 200]

Printed are the milliseconds to read a file of weights, and for the writer and the translator those
of a token of the prompt or source and of a token that is written: the median, and the slowest of
twenty. A figure that writes is pleasant up to 10 ms for a token.
"""

from __future__ import annotations

import argparse
import base64

from playwright.sync_api import sync_playwright

from coursekit.figures.live.bundle import bundle
from coursekit.figures.live.figure import HERE
from coursekit.training.records import weights_file
from coursetools.book.formats.chromium import find_chromium

MODULES = ("safetensors", "gpt", "seq2seq")
PROMPT = 40  # tokens
MODELS = {"writer": "GPT", "translation": "Seq2SeqTransformer"}
IMPORT = """async (code) => {
  const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  Object.assign(window, await import(url));
}"""
MEASURE = """([kind, content, prompt, tokens]) => {
  const timed = (call) => {
    const start = performance.now();
    call();
    return performance.now() - start;
  };
  let weights, state;
  const read = timed(() => (weights = Weights.read(content)));
  const model = new window[kind](weights);
  const ids = Array.from({ length: prompt }, (_, n) => 3 + n);
  model.decode([1], model.start(ids));  // the first call is compiled
  const first = timed(() => {
    state = model.start(ids);
    if (kind === "GPT") model.decode(ids, state);
  });
  const each = Array.from({ length: tokens }, (_, n) => timed(() => model.decode([3 + n], state)));
  return [read, first / prompt, each];
}"""


def main() -> None:
    """Print a row for each model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=200)
    tokens = parser.parse_args().tokens
    print(f"{'model':12} {'read':>8} {'prompt':>8} {'written':>8} {'slowest':>8}   ms")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        page = browser.new_page()
        for name in MODULES:
            page.evaluate(IMPORT, bundle(HERE / "models" / f"{name}.js"))
        for name, kind in MODELS.items():
            content = base64.b64encode(weights_file(name)).decode()
            read, prompt, each = page.evaluate(MEASURE, [kind, content, PROMPT, tokens])
            each.sort()
            written = each[len(each) // 2], each[int(0.95 * len(each))]
            print(f"{name:12}" + "".join(f" {ms:8.1f}" for ms in (read, prompt, *written)))
        browser.close()


if __name__ == "__main__":
    main()
