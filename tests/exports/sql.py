"""What DuckDB sees in a folder of tables, and what it and Polars answer to the questions of the guide, as JSON."""

import json
import os
import re
import sys
from glob import glob
from pathlib import Path

import duckdb
import polars

folder, guide = sys.argv[1:]
questions = re.findall(r"```sql\n(.*?)```", Path(guide).read_text(), re.DOTALL)
os.chdir(folder)


def ask(question):
    return duckdb.sql(question).fetchall()


def files(name):
    return "accesses/**/*.parquet" if name == "accesses" else f"{name}.parquet"


def in_polars(question):
    names = [*glob("*.parquet"), "accesses/**/*.parquet"]
    files = {name: polars.scan_parquet(name, hive_partitioning="/" in name) for name in names}
    return polars.SQLContext(files).execute(question).collect().rows()


names = sorted([path.stem for path in Path().glob("*.parquet")] + ["accesses"])
json.dump(
    {
        "columns": {
            name: [row[:2] for row in ask(f"DESCRIBE SELECT * FROM '{files(name)}'")]
            for name in names
        },
        "rows": {name: ask(f"SELECT count(*) FROM '{files(name)}'")[0][0] for name in names},
        "tasks": ask(
            "SELECT kind, count(*), sum(blocks), sum(reads), sum(writes), sum(bytes) "
            "FROM 'tasks.parquet' GROUP BY kind ORDER BY kind"
        ),
        "executions": ask("SELECT sum(executions) FROM 'blocks.parquet'")[0][0],
        "end_ns": ask("SELECT max(end_ns) FROM 'tasks.parquet'")[0][0],
        "waiting_ns": ask("SELECT sum(ns) FROM 'waits.parquet'")[0][0],
        "written": ask(f"SELECT count(*), sum(bytes) FROM '{files('accesses')}' WHERE write")[0],
        "bytes": ask(f"SELECT sum(bytes) FROM '{files('accesses')}'")[0][0],
        "lost": ask(
            "SELECT count(*) FROM 'edges.parquet' e ANTI JOIN 'tasks.parquet' t "
            "ON e.from_task = t.task"
        )[0][0],
        # A task makes its accesses while it runs.
        "misplaced": ask(
            f"SELECT count(*) FROM '{files('accesses')}' a JOIN 'tasks.parquet' t USING (task) "
            "WHERE a.at_ns NOT BETWEEN start_ns AND end_ns OR a.context <> t.context"
        )[0][0],
        # What is a task is an action of that task.
        "synchronised": [
            ask("SELECT count(*) FROM 'synchronisations.parquet' WHERE operation = 'mutex_lock'")[0][0],
            ask(
                "SELECT count(*) FROM 'tasks.parquet' t ANTI JOIN 'synchronisations.parquet' s "
                "USING (task) WHERE t.operation LIKE 'mutex_%'"
            )[0][0],
        ],
        "events": dict(ask("SELECT event, count(*) FROM 'allocations.parquet' GROUP BY event")),
        "answers": [[list(row) for row in ask(question)] for question in questions],
        "in_polars": [[list(row) for row in in_polars(question)] for question in questions],
    },
    sys.stdout,
    default=str,
)
