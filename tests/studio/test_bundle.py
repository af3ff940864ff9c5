"""The modules as one script, and the tape that has it."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess

import numpy as np
import pytest

from maxmargin import Problem, solve
from maxmargin.data import toys
from maxmargin.lesson.build import show
from maxmargin.lesson.part import Recording
from maxmargin.studio.bundle import PAGE, bundled
from maxmargin.studio.tape import tape_of
from tests.studio.conftest import Asker, posed, recorded

#: Bytes of the whole page as the server sends it.
MOST = 150_000


def files(tmp_path, **sources):
    for name, source in sources.items():
        (tmp_path / f"{name}.js").write_text(source)
    return tmp_path


def run_by_node(text, tmp_path):
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    file = tmp_path / "bundle.mjs"
    file.write_text(text)
    ended = subprocess.run(["node", str(file)], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_modules_become_one_that_does_the_same(tmp_path):
    first = """import { twice, b as c } from "./b.js";
import * as all from "./b.js";
import {
  one,
  Two,
} from "./c.js";
console.log(twice(c), all.twice(one), new Two().n);
export default { twice };
"""
    second = "// import nothing\nexport function twice(x) { return 2 * x; }\nexport const b = 4;\n"
    third = """import { b } from "./b.js";
const one = b + 1;
export class Two { n = 2; }
export { one };
"""
    page = files(tmp_path, a=first, b=second, c=third)
    assert run_by_node(bundled("a.js", page), tmp_path) == "8 10 2\n"


@pytest.mark.parametrize(
    "source",
    [
        'export * from "./b.js";\n',
        'import "./b.js";\n',
        'import b from "./b.js";\n',
        'const b = await import("./b.js");\n',
        "export let b = 1;\n",
        "console.log(import.meta.url);\n",
    ],
)
def test_any_other_form_is_refused(source, tmp_path):
    with pytest.raises(ValueError, match="not among the forms"):
        bundled("a.js", files(tmp_path, a=source, b="export const b = 1;\n"))


def test_a_circle_of_imports_is_refused(tmp_path):
    page = files(tmp_path, a='import { b } from "./b.js";\n', b='import { a } from "./a.js";\n')
    with pytest.raises(ValueError, match="circle"):
        bundled("a.js", page)


@pytest.mark.parametrize("root", ["widget.js", "tape.js", "main.js"])
def test_the_page_itself_can_be_bundled(root, tmp_path):
    text = bundled(root)
    assert re.search(r"^\s*import\b", text, re.M) is None
    if shutil.which("node"):
        file = tmp_path / "page.mjs"
        file.write_text(text)
        subprocess.run(["node", "--check", str(file)], check=True, timeout=60)


def test_the_page_is_small_and_asks_nobody_else():
    sent = 0
    for file in PAGE.rglob("*.*"):
        raw = file.read_bytes()
        sent += len(gzip.compress(raw, 6))
        for address in re.findall(rb"""(?:https?:)?//[\w.-]+\.[a-z]{2,}[^\s"'`)]*""", raw):
            assert address.startswith((b"http://www.w3.org/", b"https://www.w3.org/")), (file.name, address)
    assert sent <= MOST


@pytest.mark.compiled
def test_a_tape_has_the_recorded_run_and_nothing_of_it_can_run():
    ask = Asker()
    told = posed("overlap", labels=["</script><script>alert(1)</script>", "<!-- b"])
    run = ask("run", problem=told, solver="smo", options={"grain": 1})[0]["run"]
    other = ask("run", problem=told, solver="subgradient")[0]["run"]
    for one in (run, other):
        last = ask("step", run=one, k=400, seconds=5)[0]
    header, arrays = ask("export", run=run, format="tape", others=[other], title="<b>A tape</b>")
    assert header["name"].endswith(".html")
    text = arrays["file"].tobytes().decode()
    assert "<title>&lt;b&gt;A tape&lt;/b&gt;</title>" in text and "alert(1)</script" not in text
    assert text.count("</script>") == 3 and "<!-- b" not in text  # its own three
    tape, array = recorded(text)
    assert tape["problem"]["labels"] == told["labels"]
    assert [one["solver"] for one in tape["runs"]] == ["smo", "subgradient"]
    np.testing.assert_array_equal(array(tape["problem"]["arrays"]["X"]), told["X"])
    for handle, one in zip((run, other), tape["runs"], strict=True):
        frames = ask("frame", run=handle, index=-1)[0]["frames"]
        assert one["places"][0] == 0 and one["places"][-1] == frames - 1 and len(one["frames"]) <= 150
        assert array(one["trace"]).shape == (frames, 8)
        for place, frame in list(zip(one["places"], one["frames"], strict=True))[::40]:
            live, values = ask("frame", run=handle, index=place)
            assert frame["certificate"] == live["certificate"] and frame["k"] == live["k"]
            np.testing.assert_array_equal(array(frame["arrays"]["beta"]), values["beta"].astype(np.float32))
            assert "field" not in frame["arrays"]  # the page shades a single hyperplane itself
    assert last["frames"] == len(array(tape["runs"][1]["trace"]))
    refused = ask.refused("export", run=run, format="tape", others=[ask("solve", problem=posed("moons"))[0]["run"]])
    assert "same points" in refused["error"]


@pytest.mark.compiled
def test_a_figure_of_the_lesson_is_a_tape_in_a_frame_of_its_own(tmp_path):
    run = solve(Problem(*toys.overlapping()), "smo", grain=1, every=1, snapshots=True, max_iter=12)
    recording = Recording("one", "A run with $C = 1$.", lambda: run, lambda file, columns: file.write_bytes(b"GIF89a"))
    with_scripts = show(recording, tmp_path, tape=tape_of)
    assert '<iframe src="one.html"' in with_scripts and "<script" not in with_scripts
    assert "<noscript><figure><picture>" in with_scripts
    assert "<iframe" not in show(recording, tmp_path)
    tape, _ = recorded((tmp_path / "one.html").read_text())
    frames = tape["runs"][0]["frames"]
    assert [frame["k"] for frame in frames] == [look.iteration for look in run.trace.snapshots]
    assert frames[-1]["best"]["dual"] == run.trace["dual"][-1] and tape["runs"][0]["options"] == {"grain": 1}
