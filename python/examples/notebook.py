"""Runs the session of the guide's page with a program that it records, and prints every part with what it said.

`notebook.py` needs the package and Contech's commands; `notebook.py --write` puts what was said into the page.
"""

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/src/guide/python.md"
PART = re.compile(r"(```python\n(.*?)```\n)(\n```text\n.*?```\n)?", re.S)

names: dict = {}


def run(part):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(part[2], PAGE.name, "exec"), names)
    text = f"\n```text\n{said.getvalue()}```\n" if said.getvalue() else ""
    print(part[1] + text)
    return part[1] + text


page = PAGE.read_text()
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    source = ROOT / "tests/programs/omp_sort.c"
    subprocess.run(["contech-cc", "-g", "-O1", "-fopenmp", "-o", "sort", source], check=True)
    page = PART.sub(run, page)
if "--write" in sys.argv:
    PAGE.write_text(page)
