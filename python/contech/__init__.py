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
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy

from . import _contech

__all__ = ["Graph", "Table", "analyses", "open", "record", "tables"]
__version__: str = _contech.version


class Table(Mapping):
    """Columns by name, as NumPy arrays that share the memory of the reader.

    Columns of words are numbers into a list of words: `table.words["kind"][table["kind"][0]]`. What is not
    known is -1, and NULL in Arrow and pandas.
    """

    def __init__(
        self,
        columns: Mapping[str, Any],
        words: Mapping[str, list[str]] | None = None,
        unknown: Iterable[str] = (),
    ):
        self._columns = {name: numpy.asarray(column) for name, column in columns.items()}
        self.words: dict[str, list[str]] = dict(words or {})
        self._unknown = {*unknown, *self.words}

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
        """A column of words, written out; `None` where they are not known."""
        return numpy.array([*self.words[name], None], dtype=object)[self._columns[name]]

    def to_arrow(self) -> Any:
        """A `pyarrow.Table`; words are a dictionary. Columns without flags and NULLs are on the same memory."""
        import pyarrow

        def column(name: str) -> Any:
            missing = self._missing(name)
            array = pyarrow.array(self._columns[name], mask=missing if missing.any() else None)
            if name not in self.words:
                return array
            return pyarrow.DictionaryArray.from_arrays(array, pyarrow.array(self.words[name]))

        return pyarrow.table({name: column(name) for name in self})

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame`; words are categories."""
        import pandas

        def column(name: str) -> Any:
            values, missing = self._columns[name], self._missing(name)
            if name not in self.words:
                return pandas.arrays.IntegerArray(values, missing) if missing.any() else values
            return pandas.Categorical.from_codes(values, self.words[name])

        return pandas.DataFrame({name: column(name) for name in self}, copy=False)

    def _missing(self, name: str) -> numpy.ndarray:
        values = self._columns[name]
        return values == -1 if name in self._unknown else numpy.zeros(len(values), dtype=bool)

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

    def table(self, name: str) -> Table:
        """One of `contech.tables()`, with its columns; times are nanoseconds since the start of the run."""
        return Table(*self._graph.table(name))

    @cached_property
    def tasks(self) -> Table:
        """Every task, by context."""
        return self.table("tasks")

    @cached_property
    def edges(self) -> Table:
        """Every dependence but those between the tasks of a context, which follow each other."""
        return self.table("edges")

    @cached_property
    def functions(self) -> Table:
        """The functions of the program by number."""
        return self.table("functions")

    @cached_property
    def contexts(self) -> Table:
        """Threads, ranks and OpenMP tasks."""
        return self.table("contexts")

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


def tables() -> dict[str, dict[str, str]]:
    """The tables of a graph: a line about each of their columns, by name."""
    return {name: dict(columns) for name, _, columns in _contech.tables()}


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
