"""A zip archive of NumPy arrays and one JSON document, versioned and checksummed: model files and checkpoints.

    NAME.json      everything that is not an array, the format, the version, and the SHA-256 of every array
    NAME.sha256    the SHA-256 of the document
    *.npy          the arrays, not compressed: nothing can be larger than the file itself

The same contents give the same bytes. A file of a later version, with a wrong checksum, or with anything that does not
belong there is refused before memory is taken for it; no code runs on loading.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from typing import Any

import numpy as np

from maxmargin.data import npy
from maxmargin.data.arrays import ZIP_ERRORS
from maxmargin.errors import InvalidInput
from maxmargin.files import replacing, shown

MAGIC = b"PK\x03\x04"
#: The document is small; a huge one is not ours.
LONGEST_DOCUMENT = 2**26


def write(
    path: str | os.PathLike[str], name: str, version: int, document: dict[str, Any], arrays: dict[str, np.ndarray]
) -> None:
    """Write an archive, whole or not at all."""
    packed = {key: npy.packed(array) for key, array in arrays.items()}
    sums = {key: hashlib.sha256(raw).hexdigest() for key, raw in packed.items()}
    whole = {**document, "format": f"maxmargin {name}", "version": version, "arrays": sums}
    text = json.dumps(whole, ensure_ascii=False, indent=1, sort_keys=True).encode("utf-8")
    contents = {f"{name}.json": text, f"{name}.sha256": hashlib.sha256(text).hexdigest().encode()}
    contents |= {f"{key}.npy": raw for key, raw in packed.items()}
    with replacing(path) as file, zipfile.ZipFile(file, "w") as archive:
        for member, raw in contents.items():
            archive.writestr(zipfile.ZipInfo(member), raw)  # its time is always 1980: the same bytes


def read(path: str | os.PathLike[str], name: str, version: int) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The document and the arrays of an archive."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _contents(archive, name, version, os.path.getsize(path))
    except InvalidInput as error:
        raise InvalidInput(f"cannot load {os.fspath(path)}: {shown(error)}") from None
    except ZIP_ERRORS as error:
        raise InvalidInput(f"cannot load {os.fspath(path)}: {shown(error)}") from None


def _contents(
    archive: zipfile.ZipFile, name: str, version: int, size: int
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    members = {info.filename: info for info in archive.infolist()}
    own = {f"{name}.json", f"{name}.sha256"}
    if len(members) != len(archive.infolist()) or not own <= set(members):
        raise InvalidInput(f"it is not a {name} of maxmargin")
    for info in members.values():
        if info.compress_type != zipfile.ZIP_STORED or info.file_size > size:
            raise InvalidInput(f"{info.filename} promises more than the file holds")
    if members[f"{name}.json"].file_size > LONGEST_DOCUMENT:
        raise InvalidInput("its document is too long")
    text = archive.read(f"{name}.json")
    if hashlib.sha256(text).hexdigest().encode() != archive.read(f"{name}.sha256"):
        raise InvalidInput("the checksum of its document is wrong; the file is damaged")
    document = json.loads(text)
    if not isinstance(document, dict) or document.get("format") != f"maxmargin {name}":
        raise InvalidInput(f"it is not a {name} of maxmargin")
    if document.get("version") != version:
        raise InvalidInput(f"its version is {document.get('version')}; this maxmargin reads {version}: update it")
    sums = document.get("arrays")
    if not isinstance(sums, dict) or {f"{key}.npy" for key in sums} != set(members) - own:
        raise InvalidInput("its arrays are not those that its document names")
    arrays = {}
    for key, digest in sums.items():
        raw = archive.read(f"{key}.npy")
        if hashlib.sha256(raw).hexdigest() != digest:
            raise InvalidInput(f"the checksum of {key} is wrong; the file is damaged")
        arrays[key] = npy.read(io.BytesIO(raw), key, len(raw))
    return document, arrays
