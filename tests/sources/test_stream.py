"""The decompressed bytes of files, and of damaged files those before the damage."""

from __future__ import annotations

import gzip
import io
import zlib
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from untemplate.sources.stream import open_stream

CONTENT = Random(1).randbytes(50_000) + b"<p>" * 100_000
MEMBERS = gzip.compress(CONTENT) + gzip.compress(b"<p>second</p>")


def read_by_python(data: bytes) -> bytes:
    """Return what Python's gzip decompresses before it meets damage."""
    read = bytearray()
    with suppress(EOFError, OSError, zlib.error):
        file = gzip.GzipFile(fileobj=io.BytesIO(data))
        while piece := file.read1(1 << 16):
            read += piece
    return bytes(read)


def damaged_members() -> dict[str, bytes]:
    chance = Random(2)
    cases = {"whole": MEMBERS, "with zeros": MEMBERS + bytes(100), "with something else": MEMBERS + b"rest"}
    for end in chance.sample(range(8, len(MEMBERS)), 10):
        cases[f"cut at {end}"] = MEMBERS[:end]
    for place in chance.sample(range(8, len(MEMBERS)), 20):
        cases[f"byte {place} changed"] = (
            MEMBERS[:place] + bytes([MEMBERS[place] ^ 0x55]) + MEMBERS[place + 1 :]
        )
    checksum = len(gzip.compress(CONTENT)) - 8
    cases["wrong checksum"] = MEMBERS[:checksum] + b"\0\0\0\0" + MEMBERS[checksum + 4 :]
    return cases


@pytest.mark.parametrize("name", damaged_members())
def test_gzip_gives_all_before_the_damage(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    data = damaged_members()[name]
    path.write_bytes(data)
    with open_stream(path) as stream:
        content = stream.read()
        damage = stream.damage
    assert content == read_by_python(data)
    assert (damage is None) == name.startswith(("whole", "with zeros"))
