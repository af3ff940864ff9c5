"""Files are written whole or not at all: a crash, an error or a full disk leaves the old file as it was."""

from __future__ import annotations

import glob
import gzip
import lzma
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from maxmargin.errors import InvalidInput, missing_extra
from maxmargin.page import place


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A new file in the same folder that takes the place of `path` when all is written and safe on the disk.

    A name that ends in .gz, .xz or .zst is compressed. What is no ordinary file (a pipe, a device) is written to as it
    is: it must not be replaced.
    """
    final = place(path)
    if final.exists() and not final.is_file():
        try:
            with open(final, "wb") as device, _compressed(device, final.suffix) as out:
                yield out
        except OSError as error:
            raise InvalidInput(f"cannot write {os.fspath(path)}: {error.strerror or error}") from None
        return
    final = final.resolve()
    _sweep(final)
    part = final.parent / f".{final.name}.{secrets.token_hex(8)}.part"
    try:
        with open(part, "wb") as file:
            _hold(file)
            with _compressed(file, final.suffix) as out:
                yield out
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, final)
        _sync_folder(final.parent)
    except OSError as error:
        raise InvalidInput(f"cannot write {os.fspath(path)}: {error.strerror or error}") from None
    finally:
        part.unlink(missing_ok=True)


def _hold(file: IO[bytes]) -> bool:
    """Lock a file for as long as this process has it open; False where another one has it."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _sweep(final: Path) -> None:
    """Remove what a process that was killed while it wrote this file has left behind."""
    for part in final.parent.glob(f".{glob.escape(final.name)}.*.part"):
        try:
            with open(part, "rb") as file:
                abandoned = _hold(file)
            if abandoned:
                part.unlink()
        except OSError:
            continue


def _sync_folder(folder: Path) -> None:
    """Make the new name last, where folders can be synchronised."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)


@contextmanager
def _compressed(file: IO[bytes], suffix: str) -> Iterator[Any]:
    if suffix == ".gz":
        with gzip.GzipFile("", "wb", 6, file, mtime=0) as out:  # no time in it: the same data gives the same bytes
            yield out
    elif suffix == ".xz":
        with lzma.LZMAFile(file, "wb") as packed:
            yield packed
    elif suffix == ".zst":
        try:
            import zstandard
        except ImportError:
            raise missing_extra("zstandard", "data") from None
        with zstandard.ZstdCompressor().stream_writer(file, closefd=False) as stream:
            yield stream
    else:
        yield file
