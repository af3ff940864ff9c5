"""Where bytes come from: a file or standard input, plain or compressed, in pieces that end at line ends.

The next piece is read (and decompressed) by a thread of its own while the last one is worked on.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np

from maxmargin.errors import InvalidInput, bytes_text, missing_extra

#: Text that is read at a time.
PIECE = 2**24
#: A piece shorter than this is worked on before the next one is read.
SHORT = 2**16
#: No line may be longer: a file without line ends is not text.
LONGEST_LINE = 2**28

#: Called with the bytes read so far and the size of the file (0 where it is not known).
Progress = Callable[[int, int], object]

_MAGIC = {b"\x1f\x8b": "gz", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zst", b"BZh": "bz2"}
COMPRESSED = tuple(f".{name}" for name in _MAGIC.values())


@dataclass(frozen=True, eq=False)
class Text:
    """Whole lines of a file, and where in the file they are."""

    raw: bytes
    #: The number of the first line, from 1.
    line: int
    #: The share of the file that has been read up to the end of this piece; 0 where that is not known.
    share: float

    @property
    def bytes(self) -> np.ndarray:
        """The same as an array, for compiled code; nothing is copied."""
        return np.frombuffer(self.raw, np.uint8)


class Source:
    """A file to read from, by its path; ``-`` is standard input. Compression is told from the first bytes."""

    def __init__(self, path: str | os.PathLike[str], progress: Progress | None = None) -> None:
        self.path = os.fspath(path)
        self.name = "standard input" if self.path == "-" else self.path
        self.progress = progress
        self._raw: IO[bytes] | None = None
        self._ahead = b""

    def __enter__(self) -> Source:
        if self._raw is not None:  # opened before, to look at its first bytes: a pipe cannot be opened twice
            return self
        if self.path == "-":
            self._raw, self.size = sys.stdin.buffer, 0
        else:
            if Path(self.path).is_dir():
                raise InvalidInput(f"{self.path} is a folder; name a file")
            try:
                self._raw = open(self.path, "rb")
            except OSError as error:
                raise InvalidInput(f"cannot read {self.path}: {error.strerror}") from None
            self.size = os.fstat(self._raw.fileno()).st_size
        self._stream = _decompressed(_Counted(self._raw), self.name)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._raw is not None and self.path != "-":
            self._raw.close()

    def peek(self, size: int) -> bytes:
        """The first bytes of the decompressed contents, which `read` gives again."""
        while len(self._ahead) < size and (more := self._take(size - len(self._ahead))):
            self._ahead += more
        return self._ahead

    def read(self, size: int) -> bytes:
        """Up to so many bytes of the decompressed contents; none at the end."""
        if self._ahead:
            taken, self._ahead = self._ahead[:size], self._ahead[size:]
            return taken
        return self._take(size)

    def _take(self, size: int) -> bytes:
        try:
            return self._stream.read(size)
        except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
            raise InvalidInput(f"cannot read {self.name}: {error}") from None
        except Exception as error:  # zstandard's own, whose class is there only where the package is
            if type(error).__name__ != "ZstdError":
                raise
            raise InvalidInput(f"cannot read {self.name}: {error}") from None

    def share(self) -> float:
        """How much of the file has been read; 0 where its size is not known."""
        done = self._stream.counted.done
        if self.progress is not None:
            self.progress(done, self.size)
        return done / self.size if self.size else 0.0

    def pieces(self) -> Iterator[Text]:
        """The whole file as pieces of about PIECE bytes, each of whole lines; the last line may lack its end."""
        line, rest = 1, b""
        with ThreadPoolExecutor(1) as reader:
            coming: Callable[[], bytes] = partial(self.read, PIECE)
            while True:
                data = coming()
                share = self.share()
                if data:
                    # A short piece is as good as the last one: no thread for what may come behind it.
                    coming = partial(self.read, PIECE) if len(data) < SHORT else reader.submit(self.read, PIECE).result
                    cut = data.rfind(b"\n") + 1
                    if cut == 0:
                        rest += data
                        if len(rest) > LONGEST_LINE:
                            raise InvalidInput(f"{self.name}:{line}: a line longer than {bytes_text(LONGEST_LINE)}")
                        continue
                    whole, rest = rest + data[:cut] if rest else data[:cut], data[cut:]
                else:
                    whole, rest = rest, b""
                if whole:
                    yield Text(whole, line, share)
                    line += whole.count(b"\n")
                if not data:
                    return


def opened(path: str | os.PathLike[str] | Source, progress: Progress | None = None) -> Source:
    """A source for a path, or the one that is given."""
    return path if isinstance(path, Source) else Source(path, progress)


def is_pipe(path: str | os.PathLike[str]) -> bool:
    """Whether something can be read once only: standard input, or what is neither a file nor a folder."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return os.fspath(path) == "-"
    return os.fspath(path) == "-" or not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


class _Counted(io.RawIOBase):
    """Counts the bytes that are taken from a file."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.done = 0
        self.ahead = b""

    def peek(self, size: int) -> bytes:
        while len(self.ahead) < size and (more := self.file.read(size - len(self.ahead))):
            self.ahead += more
        return self.ahead

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        taken = self.ahead if size < 0 else self.ahead[:size]
        self.ahead = self.ahead[len(taken) :]
        if size < 0 or len(taken) < size:
            taken += self.file.read(size if size < 0 else size - len(taken))
        self.done += len(taken)
        return taken

    def readinto(self, buffer: Any) -> int:
        taken = self.read(len(buffer))
        buffer[: len(taken)] = taken
        return len(taken)


def _decompressed(counted: _Counted, name: str) -> Any:
    """The contents of a stream, decompressed where its first bytes say so."""
    start = counted.peek(6)
    kind = next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), None)
    stream: Any = counted
    if kind == "gz":
        stream = gzip.GzipFile(fileobj=counted)
    elif kind == "xz":
        stream = lzma.LZMAFile(stream)
    elif kind == "bz2":
        stream = bz2.BZ2File(stream)
    elif kind == "zst":
        try:
            import zstandard
        except ImportError:
            raise missing_extra("zstandard", "data") from None
        stream = zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(stream, read_across_frames=True)
    return _Stream(stream, counted)


class _Stream:
    def __init__(self, stream: Any, counted: _Counted) -> None:
        self.read, self.counted = stream.read, counted
