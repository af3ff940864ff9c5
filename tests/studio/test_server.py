"""The server: who may talk to it, what it hands out, and that it stays alive."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest

from maxmargin.studio import server as serving
from maxmargin.studio.arguments import LIMITS
from maxmargin.studio.frames import unpacked
from tests.studio.conftest import posed

httpx = pytest.importorskip("httpx")
websockets = pytest.importorskip("websockets")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytestmark = pytest.mark.compiled

TOKEN = "a-token-for-tests"


@contextmanager
def running(idle=60.0):
    """A server in a thread of its own; gives its address."""
    made = serving.server(TOKEN, idle)
    with serving.open_socket(None) as listening:
        thread = threading.Thread(target=made.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not made.started:
            time.sleep(0.01)
        yield f"127.0.0.1:{listening.getsockname()[1]}"
        made.should_exit = True
        thread.join(10)
        assert not thread.is_alive()


@pytest.fixture(scope="module")
def host():
    with running() as address:
        yield address


def connected(host, token=TOKEN, origin=None):
    return websockets.connect(f"ws://{host}/{token}/ws", origin=origin or f"http://{host}", max_size=None)


async def asked(tab, number, op, **command):
    await tab.send(json.dumps({"id": number, "op": op, **command}))
    return unpacked(await asyncio.wait_for(tab.recv(), 60))


def test_files_are_handed_out_behind_the_token_only(host):
    good = httpx.get(f"http://{host}/{TOKEN}/types.js")
    assert good.status_code == 200 and good.headers["content-type"].startswith("text/javascript")
    policy = good.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy
    assert good.headers["x-content-type-options"] == "nosniff" and good.headers["referrer-policy"] == "no-referrer"
    assert httpx.get(f"http://{host}/another-token/types.js").status_code == 403
    assert httpx.get(f"http://{host}/types.js").status_code == 404
    for host_header in ("evil.example", "evil.example:80", f"127.0.0.1.evil.example:{host.split(':')[1]}", "[::1]:80"):
        assert httpx.get(f"http://{host}/{TOKEN}/types.js", headers={"host": host_header}).status_code == 403
    for path in ("../server.py", "%2e%2e/server.py", "..%2fserver.py", "/etc/passwd", "nothing.js", "views", "a\0b.js"):
        with httpx.Client() as client:
            request = client.build_request("GET", f"http://{host}/{TOKEN}/x")
            request.url = request.url.copy_with(raw_path=f"/{TOKEN}/{path}".encode().replace(b"\0", b"%00"))
            assert client.send(request).status_code == 404, path
    assert httpx.post(f"http://{host}/{TOKEN}/types.js").status_code == 405


@pytest.mark.parametrize(
    "wrong",
    [
        {"token": "another-token"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "https://127.0.0.1"},
    ],
)
def test_another_page_cannot_talk_to_it(host, wrong):
    async def attempt():
        with pytest.raises(websockets.exceptions.InvalidStatus) as refused:
            async with connected(host, **wrong):
                pass
        assert refused.value.response.status_code == 403

    asyncio.run(attempt())


def test_another_name_of_this_machine_cannot_reach_it(host):
    """A site whose name is made to lead to the loopback address sends its own name as Host and Origin."""
    for name, status in (("evil.example", b"403"), (host, b"101")):
        lines = (
            f"GET /{TOKEN}/ws HTTP/1.1",
            f"Host: {name}",
            f"Origin: http://{name}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
            "Sec-WebSocket-Version: 13",
        )
        with socket.create_connection(host.split(":"), timeout=10) as raw:
            raw.sendall("\r\n".join([*lines, "", ""]).encode())
            assert raw.recv(100).split()[1] == status


def test_without_an_origin_there_is_no_page(host):
    async def attempt():
        with pytest.raises(websockets.exceptions.InvalidStatus):
            async with websockets.connect(f"ws://{host}/{TOKEN}/ws"):
                pass

    asyncio.run(attempt())


def test_tabs_have_states_of_their_own(host):
    async def talk():
        async with connected(host) as one, connected(host) as other:
            run = (await asked(one, 1, "run", problem=posed(), solver="smo"))[0]["run"]
            assert (await asked(one, 2, "step", run=run))[0]["ok"]
            refused = (await asked(other, 1, "step", run=run))[0]
            assert not refused["ok"] and refused["kind"] == "missing"

    asyncio.run(talk())


def test_the_server_lives_on_whatever_comes(host):
    async def talk():
        async with connected(host) as tab:
            for message in ("", "{", "[]", "null", '{"id": 1}', '{"id": "x", "op": "hello"}', "\u0000", "[" * 50_000):
                await tab.send(message)
                header, _ = unpacked(await tab.recv())
                assert not header["ok"] and header["kind"] == "protocol"
            assert (await asked(tab, 5, "hello"))[0]["ok"]
            await tab.send(b"\x00\x01")
            with pytest.raises(websockets.exceptions.ConnectionClosed) as closed:
                await tab.recv()
            assert closed.value.rcvd.code == 1003
        async with connected(host) as tab:
            with pytest.raises(websockets.exceptions.ConnectionClosed) as closed:
                await tab.send("a" * (LIMITS["message"] + 1))
                await tab.recv()
            assert closed.value.rcvd.code == 1009
        async with connected(host) as tab:
            assert (await asked(tab, 6, "hello"))[0]["ok"]

    asyncio.run(talk())


def test_there_is_a_limit_to_tabs():
    async def talk(host):
        tabs = [await connected(host) for _ in range(serving.TABS)]
        with pytest.raises(websockets.exceptions.InvalidStatus):
            await connected(host)
        for tab in tabs:
            await tab.close()
        for _ in range(200):  # the server notices in its own time
            try:
                again = await connected(host)
                break
            except websockets.exceptions.InvalidStatus:
                await asyncio.sleep(0.05)
        assert (await asked(again, 1, "hello"))[0]["ok"]
        await again.close()

    with running() as host:
        asyncio.run(talk(host))


def test_idle_tabs_are_closed():
    async def talk(host):
        async with connected(host) as tab:
            with pytest.raises(websockets.exceptions.ConnectionClosed) as closed:
                await asyncio.wait_for(tab.recv(), 60)
            assert closed.value.rcvd.code == 1001

    with running(idle=0.5) as host:
        asyncio.run(talk(host))


def test_the_command_serves_and_ends_with_ctrl_c(tmp_path):
    own = tmp_path / "my_solver.py"
    own.write_text(OWN_SOLVER)
    command = [sys.executable, "-m", "maxmargin", "studio", "--no-browser", "--solver", str(own)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        address = line.split()[-1]
        assert address.startswith("http://127.0.0.1:")
        host, token = address.split("/")[2:4]

        async def talk():
            async with connected(host, token) as tab:
                told = (await asked(tab, 1, "hello"))[0]
                assert "my-solver" in [one["name"] for one in told["solvers"]]
                header, _ = await asked(tab, 2, "run", problem=posed(bias="none"), solver="my-solver")
                header, _ = await asked(tab, 3, "step", run=header["run"], k=20)
                assert header["certificate"]["primal"] >= header["certificate"]["dual"]
                long = {"id": 4, "op": "solve", "problem": posed("overlap"), "solver": "subgradient", "tol": 0}
                await tab.send(json.dumps({**long, "seconds": 30}))
                await asyncio.sleep(0.5)
                process.send_signal(signal.SIGINT)  # while a tab is open, and waits for an answer
                with pytest.raises(websockets.exceptions.ConnectionClosed):
                    await asyncio.wait_for(tab.recv(), 20)

        asyncio.run(talk())
        _, error = process.communicate(timeout=20)
        told = [line for line in error.splitlines() if not line.startswith("compiling for this machine")]
        assert process.returncode == 0 and not told, error
    finally:
        process.kill()


def test_a_port_that_is_taken_is_told_in_one_sentence():
    with serving.open_socket(None) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        ended = subprocess.run(
            [sys.executable, "-m", "maxmargin", "studio", "--no-browser", "--port", str(port)],
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert ended.returncode == 1 and str(port) in ended.stderr and len(ended.stderr.splitlines()) == 1


def test_a_file_without_a_solver_is_refused(tmp_path):
    from maxmargin import InvalidInput
    from maxmargin.studio.own import load

    for text, told in (("x = 1\n", "registers no solver"), ("1 / 0\n", "ZeroDivisionError")):
        file = tmp_path / "one.py"
        file.write_text(text)
        with pytest.raises(InvalidInput, match=told):
            load(file)
    with pytest.raises(InvalidInput, match="not a Python file"):
        load(tmp_path / "nothing.py")


OWN_SOLVER = '''"""Half steps down the sub-gradient.

Problem:  min_w  P(w)

    1. w = 0.
    2. For t = 1, 2, ...: go down the sub-gradient.
"""

from dataclasses import dataclass
from itertools import count

import numpy as np

from maxmargin.result import Iterate
from maxmargin.solvers.base import Solver, registry


@dataclass(frozen=True)
class MySolver(Solver):
    """Half steps.

    Parameters
    ----------
    share : float, default 0.5
        How far to go.
    """

    name = "my-solver"
    paper = "none"
    share: float = 0.5

    def accepts(self, problem):
        return None if problem.bias == "none" else "it has no bias; use bias='none'"

    def iterates(self, problem, start, rng):
        beta = np.zeros(problem.n)  # 1.
        for t in count(1):  # 2.
            scores = problem.space.scores(problem.space.combine(beta))
            beta += self.share / t * (problem.pulls(scores) - beta)
            yield Iterate(t, beta=beta, work=1.0)


registry.register(MySolver.name, MySolver())
'''
