"""Files are written whole or not at all, never over an input, and their names are shown without control characters.

    1. Write a new file beside the old one, with the old one's mode.
    2. Flush it to the disk (fsync), and only then give it the old one's name (rename).
    3. Flush the folder, so that the new name lasts.

A crash, an error, a full disk or a power cut leaves the old file or the new one; whoever reads meanwhile, too, sees one
of the two. What a killed process has left behind is removed by the next one that writes the same file.
"""

from __future__ import annotations

import glob
import os
import secrets
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from maxmargin.errors import InvalidInput, missing_extra


def shown(text: object) -> str:
    """Text for a terminal: what cannot be printed (control characters, half a surrogate pair) is escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in str(text))


def place(path: str | os.PathLike[str]) -> Path:
    """Where a file is to be written, refused in one sentence if that cannot be."""
    file = Path(path)
    if file.is_dir():
        raise InvalidInput(f"{file} is a folder; give the name of a file in it, such as {file / 'report.html'}")
    if not file.parent.is_dir():
        raise InvalidInput(f"cannot write {file}: there is no folder {file.parent}; make it first")
    if not os.access(file.parent, os.W_OK):
        raise InvalidInput(f"cannot write {file}: the folder {file.parent} is not writable; choose another")
    return file


def distinct(
    inputs: Mapping[str, str | os.PathLike[str] | None], outputs: Mapping[str, str | os.PathLike[str] | None]
) -> None:
    """Refuse an output that is an input or another output, also through links; nothing is opened.

    Both map what a file is called on the command line to its path (None where it was not given); the input ``-`` is
    standard input. Devices and pipes may be shared: writing to them replaces nothing.
    """
    taken = [(f"the input {name}", marks) for name, path in inputs.items() if (marks := _marks(path, True))]
    for name, path in outputs.items():
        marks = _marks(path, False)
        for other, others in taken:
            if marks & others:
                raise InvalidInput(
                    f"{name} {path} is the same file as {other}; name another file, so that neither is lost"
                )
        taken.append((name, marks))


def _marks(path: str | os.PathLike[str] | None, read: bool) -> set[object]:
    """What two names of the same ordinary file have in common: the resolved path, or the inode."""
    if path is None:
        return set()
    try:
        if read and os.fspath(path) == "-":
            known = os.fstat(sys.stdin.fileno())
            return {(known.st_dev, known.st_ino)} if stat.S_ISREG(known.st_mode) else set()
        known = os.stat(path)
    except (OSError, ValueError, AttributeError):  # not there yet, or no standard input
        return set() if path == "-" and read else {os.path.realpath(path)}
    return {os.path.realpath(path), (known.st_dev, known.st_ino)} if stat.S_ISREG(known.st_mode) else set()


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A new file in the same folder that takes the place of `path` when all is written and safe on the disk.

    A name that ends in .gz, .bz2, .xz or .zst is compressed. What is no ordinary file (a pipe, a device) is written to
    as it is: it must not be replaced. A file that is replaced keeps its mode.
    """
    final = place(path)
    if final.exists() and not final.is_file():
        try:
            with open(final, "wb") as device, _compressed(device, final.suffix) as out:
                yield out
        except OSError as error:
            raise InvalidInput(f"cannot write {os.fspath(path)}: {error.strerror or error}") from None
        return
    final = final.resolve()  # only within a folder is a replacement one step
    part = None
    try:
        _sweep(final)
        # 1.
        file, part = _beside(final)
        with file:
            with _compressed(file, final.suffix) as out:
                yield out
            # 2.
            file.flush()
            os.fsync(file.fileno())
            if os.name != "nt":
                os.replace(part, final)  # while it is still held: nobody may sweep it away before
        if os.name == "nt":  # where an open file cannot be renamed
            os.replace(part, final)
        # 3.
        _sync_folder(final.parent)
    except OSError as error:
        raise InvalidInput(f"cannot write {os.fspath(path)}: {error.strerror or error}") from None
    finally:
        if part is not None:
            part.unlink(missing_ok=True)


def _beside(final: Path) -> tuple[IO[bytes], Path]:
    """A new file beside `final`, held by this process, with the mode and the owner of the old one."""
    try:
        old = os.stat(final)
    except OSError:
        old = None
    while True:
        part = final.parent / f".{final.name[:50]}.{secrets.token_hex(8)}.part"
        # Nobody else may read it before it has its mode.
        handle = os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666 if old is None else 0o600)
        file = os.fdopen(handle, "wb")
        _hold(file, wait=True)
        if part.exists():  # otherwise somebody swept it away before it was held
            break
        file.close()
    if old is not None and hasattr(os, "fchmod"):
        if (old.st_uid, old.st_gid) != (os.getuid(), os.getgid()):
            try:
                os.fchown(file.fileno(), old.st_uid, old.st_gid)
            except OSError:
                pass  # only root may give a file away
        os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode))
    return file, part


def _hold(file: IO[bytes], wait: bool = False) -> bool:
    """Lock a file for as long as this process has it open; False where another one has it."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


def _sweep(final: Path) -> None:
    """Remove what a process that was killed while it wrote this file has left behind."""
    for part in final.parent.glob(f".{glob.escape(final.name[:50])}.*.part"):
        try:
            with open(part, "rb") as file:
                if _hold(file):
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
        import gzip

        with gzip.GzipFile("", "wb", 6, file, mtime=0) as out:  # no time in it: the same data gives the same bytes
            yield out
    elif suffix == ".bz2":
        import bz2

        with bz2.BZ2File(file, "wb") as shrunk:
            yield shrunk
    elif suffix == ".xz":
        import lzma

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
