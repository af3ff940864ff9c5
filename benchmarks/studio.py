"""The studio in a browser: frames per second while it plays, and milliseconds from a click to the new boundary.

    python benchmarks/studio.py                          # needs Playwright and Chromium
    python benchmarks/studio.py --rows 500 --seconds 5

The page is the real one, at 1280 × 900 with its two first views open, and so is the server. Frames: one update of SMO
at a time (first order, RBF kernel), each certified and drawn with its decision field. Clicks: pointer events on the
plane, 50 of them, until the picture that shows the optimum of the new points; every click is undone. The machine's
load is told beside the numbers: on a busy machine they are worse.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]

TOOLS = """
  const app = window.studio, store = app.store;
  const until = (done) => new Promise((resolve, reject) => {
    const begin = performance.now();
    const look = () => done(store.get()) ? resolve(performance.now())
      : performance.now() - begin > 60000 ? reject(new Error('took longer than a minute')) : setTimeout(look, 1);
    look();
  });
  const idle = () => until((s) => s.problem && !app.engine.working && s.runs[0].frame);
  const toy = async (n) => {
    const { X, y } = (await app.request('toy', { name: 'moons', n, noise: 0.3, seed: 1 })).arrays;
    const labels = ['0', '1'];
    app.setPoints({ task: 'classification', xy: Float64Array.from(X), y: Float64Array.from(y), labels, note: '' });
    app.change({ kernel: 'rbf', kernelFields: {}, C: 10 });
    await until((s) => s.problem?.n === n);
    await idle();
  };
"""

FRAMES = (
    "async ([rows, seconds]) => {"
    + TOOLS
    + """
  store.set({ live: true });
  await toy(rows);
  store.set({ speed: 60, single: true, live: false });
  app.changeRun({ solver: 'smo', options: { selection: 'first-order' } });
  app.step(1);
  await until((s) => s.runs[0].recorded > 0);
  const seen = new Set();
  const begin = performance.now();
  app.play();
  while (performance.now() - begin < 1000 * seconds && !store.get().runs[0].ended) {
    await new Promise(requestAnimationFrame);
    seen.add(store.get().runs[0].frame.index);
  }
  const rate = (1000 * seen.size) / (performance.now() - begin);
  store.set({ playing: false });
  return rate;
}"""
)

CLICKS = (
    "async ([rows]) => {"
    + TOOLS
    + """
  store.set({ live: true });
  await toy(rows);
  const node = document.querySelector('canvas.plane');
  const took = [];
  for (let k = 0; took.length < 50; k++) {
    const box = node.getBoundingClientRect();
    const clientX = box.left + box.width * (0.1 + 0.8 * ((k * 0.618) % 1));
    const clientY = box.top + box.height * (0.1 + 0.7 * ((k * 0.377) % 1));
    const event = { bubbles: true, pointerId: 1, pointerType: 'mouse', button: 0, clientX, clientY };
    const [points, frame] = [store.get().points, store.get().runs[0].frame];
    const begin = performance.now();
    node.dispatchEvent(new PointerEvent('pointerdown', event));
    const added = store.get().points !== points; // else the click has met a sample
    if (added) {
      const there = (now) => now && now !== frame && now.arrays.beta.length === rows + 1;
      await until((s) => s.problem?.n === rows + 1 && there(s.runs[0].frame));
      await new Promise(requestAnimationFrame);
      took.push(performance.now() - begin);
    }
    node.dispatchEvent(new PointerEvent('pointerup', event));
    await idle();
    if (added) app.undo();
    else app.select([]);
    await idle();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return took.sort((a, b) => a - b);
}"""
)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--rows", type=int, default=500, help="samples while it plays")
    asked.add_argument("--clicked", type=int, default=200, help="samples that are clicked among")
    asked.add_argument("--seconds", type=float, default=4.0, help="of playing")
    options = asked.parse_args()
    from playwright.sync_api import sync_playwright

    host = subprocess.Popen(
        [sys.executable, "-m", "maxmargin", "studio", "--no-browser"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert host.stdout is not None
        found = re.search(r"http://\S+", host.stdout.readline())
        assert found is not None
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
            page = browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
            page.goto(found[0])
            page.wait_for_selector("table.certificate td[data-value]")
            print(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
            page.evaluate(FRAMES, [options.rows, 0.5])  # what has to be compiled or loaded is, by then
            rate = page.evaluate(FRAMES, [options.rows, options.seconds])
            print(f"frames: {rate:.1f} a second with {options.rows} samples, RBF")
            took = page.evaluate(CLICKS, [options.clicked])
            print(
                f"click to boundary: median {took[25]:.0f} ms, from {took[0]:.0f} to {took[-1]:.0f} ms, "
                f"with {options.clicked} samples, RBF"
            )
            print(f"load after: {os.getloadavg()[0]:.1f}")
            browser.close()
    finally:
        host.terminate()
        host.wait()


if __name__ == "__main__":
    main()
