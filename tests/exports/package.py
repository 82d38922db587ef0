"""What the Python package says of the graph of a run, beside what the command says: `package.py GRAPH COMMAND`."""

import json
import subprocess
import sys
import tempfile

import duckdb
import numpy
import polars
import pyarrow.parquet

import contech

path, command = sys.argv[1:]
graph = contech.open(path)
totals = graph.summary


def said(name):
    """The answer of a command, or why it has none."""
    words = [command, name, path, "--format", "json"]
    done = subprocess.run(words, capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr


def answered(name):
    try:
        return graph.analyse(name)
    except ValueError as error:
        return f"contech-backend: {error}\n"


# Every analysis is callable, and says what its command says.
answers = {name: answered(name) for name in contech.analyses()}
for name, answer in answers.items():
    assert answer == said(name), (name, answer)
assert sum(isinstance(answer, dict) for answer in answers.values()) > 10, answers
some = graph.analyse("misses", sizes=["32K", "1M"], top=3)
assert some["sizes"] == [32 << 10, 1 << 20], some["sizes"]

# Tables have everything, and their arrays are the memory of the reader.
tasks = graph.tasks
for kind, count in totals["tasks"].items():
    assert (tasks.word("kind") == kind).sum() == count, kind
for column, total in {"blocks": "blocks", "bytes": "bytes_accessed", "reads": "reads"}.items():
    assert tasks[column].sum() == totals[total], column
assert graph.edges.rows == totals["edges"]
assert numpy.isin(graph.edges["from_task"], tasks["task"]).all()
raw = graph._graph.table("tasks")[0]["start_ns"]
array = numpy.asarray(raw)
assert array.__array_interface__["data"][0] == raw.__array_interface__["data"][0], "copied"
assert not array.flags.writeable
del raw  # The array keeps the column.
assert (array == tasks["start_ns"]).all()
arrow = tasks.to_arrow()
assert arrow.num_rows == tasks.rows
assert arrow["start_ns"].chunk(0).buffers()[1].address == tasks["start_ns"].ctypes.data, "copied"
assert arrow["kind"].to_pylist() == tasks.word("kind").tolist()

# They are the tables of the export, and what reads tables reads them. What is not known is NULL there.
with tempfile.TemporaryDirectory() as folder:
    graph.export(parquet=folder)
    for name, columns in contech.tables().items():
        table = graph.table(name)
        exported = pyarrow.parquet.read_table(f"{folder}/{name}.parquet")
        assert exported.column_names == list(table) == list(columns), (name, exported.column_names)
        own = table.to_arrow()
        for column in table:
            said = own[column].to_pylist()
            if column in ("object", "address"):
                said = table[column].view(numpy.int64).tolist()
            assert said == exported[column].to_pylist(), (name, column)
assert (tasks["function"] >= 0).any() and (tasks["line"] > 0).any()
frame = tasks.to_pandas()
assert frame.groupby("kind", observed=True).size().to_dict() == {
    kind: count for kind, count in totals["tasks"].items() if count
}
assert polars.from_arrow(arrow)["blocks"].sum() == totals["blocks"]
assert duckdb.sql("SELECT sum(blocks) FROM arrow WHERE kind = 'work'").fetchall() == [(totals["blocks"],)]

# Batches of accesses: all of them, of one context, and none that nobody waits for.
rows = written = moved = 0
for batch in graph.accesses(rows=1000):
    rows += batch.rows
    written += int(batch["write"].sum())
    moved += int(batch["bytes"].sum())
assert (rows, written, moved) == tuple(totals[name] for name in ("accesses", "writes", "bytes_accessed"))
assert sum(batch.rows for batch in graph.accesses(context=0)) == tasks["reads"][tasks["context"] == 0].sum() + tasks["writes"][tasks["context"] == 0].sum()
next(iter(graph.accesses(rows=1)))

# What is wrong is said.
for wrong, kind, part in (
    (lambda: contech.open("/nowhere/graph.tg"), OSError, "/nowhere/graph.tg"),
    (lambda: contech.open(__file__), ValueError, "package.py"),
    (lambda: graph.analyse("cach"), ValueError, "there is no analysis cach"),
    (lambda: graph.analyse("cache", size="1K"), ValueError, "--size"),
    (lambda: graph.accesses(context=1 << 20), ValueError, "no context"),
    (lambda: graph.export(callgrind="/nowhere/file"), OSError, "cannot write /nowhere/file"),
):
    try:
        wrong()
    except kind as error:
        assert part in str(error), error
    else:
        raise AssertionError(part)
print("as the command says")
