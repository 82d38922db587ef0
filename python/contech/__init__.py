"""Task graphs of Contech: what a multi-threaded program did while it ran.

>>> import contech
>>> graph = contech.open("graph.tg")
>>> graph.summary["tasks"]["work"], graph.tasks["end_ns"].max()
>>> graph.analyse("misses", sizes="32K,1M")["points"]
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy

from . import _contech

__all__ = ["Graph", "Table", "analyses", "open", "record"]
__version__: str = _contech.version

_KINDS, _OPERATIONS = _contech.names()


class Table(Mapping):
    """Columns by name, as NumPy arrays that share the memory of the reader.

    Columns of words are numbers into a list of words: `table.words["kind"][table["kind"][0]]`.
    """

    def __init__(
        self, columns: Mapping[str, Any], words: Mapping[str, list[str]] | None = None
    ):
        self._columns = {name: numpy.asarray(column) for name, column in columns.items()}
        self.words: dict[str, list[str]] = dict(words or {})

    def __getitem__(self, name: str) -> numpy.ndarray:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        """The number of columns; `rows` is that of the rows."""
        return len(self._columns)

    @property
    def rows(self) -> int:
        return len(next(iter(self._columns.values()), ()))

    def word(self, name: str) -> numpy.ndarray:
        """A column of words, written out."""
        return numpy.array(self.words[name], dtype=object)[self._columns[name]]

    def to_arrow(self) -> Any:
        """A `pyarrow.Table` on the same memory, but for flags, which Arrow packs; words are a dictionary."""
        import pyarrow

        def column(name: str) -> Any:
            array = pyarrow.array(self._columns[name])
            if name not in self.words:
                return array
            return pyarrow.DictionaryArray.from_arrays(array, pyarrow.array(self.words[name]))

        return pyarrow.table({name: column(name) for name in self})

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame`; words are categories."""
        import pandas

        def column(name: str) -> Any:
            values = self._columns[name]
            if name not in self.words:
                return values
            return pandas.Categorical.from_codes(values, self.words[name])

        return pandas.DataFrame({name: column(name) for name in self}, copy=False)

    def __repr__(self) -> str:
        return f"Table({self.rows} rows: {', '.join(self)})"


class Graph:
    """A task graph; the file is mapped, and read as far as it is asked for."""

    def __init__(self, path: str | os.PathLike[str]):
        self._graph = _contech.Graph(os.fspath(path))
        self._meta, self._summary = json.loads(self._graph.about())

    @property
    def path(self) -> str:
        return os.fspath(self._graph.path)

    @property
    def meta(self) -> dict[str, Any]:
        """Facts about the run: command, host, processors, notes."""
        return self._meta

    @property
    def summary(self) -> dict[str, Any]:
        """Totals: contexts, tasks by kind, edges, blocks, accesses, bytes, duration."""
        return self._summary

    @property
    def warnings(self) -> list[str]:
        """What a reader of any result must know about the recording."""
        return self._graph.warnings()

    @cached_property
    def tasks(self) -> Table:
        """Every task, by context; times are nanoseconds since the start of the run.

        `function` is a place in `functions`, or -1 where it is not known; `line` is then 0.
        """
        return Table(self._graph.tasks(), {"kind": _KINDS, "operation": _OPERATIONS})

    @cached_property
    def edges(self) -> Table:
        """Every edge between tasks that do not follow one another in one context."""
        return Table(self._graph.edges(), {"from_kind": _KINDS, "to_kind": _KINDS})

    @cached_property
    def functions(self) -> list[dict[str, Any]]:
        """The functions of the program by number."""
        return [dict(zip(("name", "file", "line"), row)) for row in self._graph.functions()]

    @cached_property
    def contexts(self) -> list[dict[str, Any]]:
        """Threads, ranks and OpenMP tasks."""
        names = ("context", "name", "tasks", "first_ns", "last_ns", "creator")
        return [dict(zip(names, row)) for row in self._graph.contexts()]

    def accesses(self, context: int | None = None, rows: int = 1 << 18) -> Iterator[Table]:
        """The accesses of a context, or of all one after the other, in tables of at least so many rows."""
        return (Table(columns) for columns in self._graph.accesses(context, rows))

    def analyse(self, name: str, **options: Any) -> dict[str, Any]:
        """What an analysis says: the JSON of `contech-backend NAME`. Options are those of that command.

        >>> graph.analyse("cache", sizes=["32K", "1M"], shared=True)
        """
        return json.loads(self._graph.analyse(name, _options(options)))

    def export(self, **forms: Any) -> None:
        """Writes the graph for other programs: `graph.export(perfetto="run.pftrace")`."""
        self._graph.export(_options(forms))

    def __repr__(self) -> str:
        return f"Graph({self.path!r}: {sum(self._summary['tasks'].values())} tasks)"


def open(path: str | os.PathLike[str] = "graph.tg") -> Graph:
    """Opens a task graph, as written by `contech run` or `contech-middle`."""
    return Graph(path)


def analyses() -> dict[str, str]:
    """The analyses, and a line about each."""
    return dict(_contech.analyses())


def record(
    command: list[str], output: str | os.PathLike[str] = "contech-out", contech: str = "contech"
) -> Graph:
    """Runs a program built with `contech-cc`, and opens the graph of the run."""
    subprocess.run([contech, "run", "--output", os.fspath(output), "--", *command], check=True)
    return Graph(os.path.join(output, "graph.tg"))


def _options(options: Mapping[str, Any]) -> list[str]:
    """Words of a command line; lists are joined by commas."""
    words: list[str] = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            words.append(option)
        elif value is not False and value is not None:
            values = value if isinstance(value, (list, tuple)) else [value]
            words.append(f"{option}={','.join(map(str, values))}")
    return words
