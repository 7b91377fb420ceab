"""The front end: vendored libraries are what they claim to be, and files stay small."""

from __future__ import annotations

import hashlib
import re
from importlib import resources
from pathlib import Path

STATIC = Path(str(resources.files("untemplate.web"))) / "static"
MAX_LINES = 300


def test_vendored_libraries_have_the_hashes_of_their_readme() -> None:
    vendor = STATIC / "vendor"
    readme = (vendor / "README.md").read_text("utf-8")
    table = dict(re.findall(r"^\| (\S+\.js) .*\| ([0-9a-f]{64}) \|$", readme, re.MULTILINE))
    assert table == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in vendor.glob("*.js")}


def test_files_of_the_front_end_have_one_subject_each() -> None:
    lines = {path: len(path.read_text("utf-8").splitlines()) for path in STATIC.rglob("*.js")}
    assert {path.name: count for path, count in lines.items() if count > MAX_LINES} == {}
