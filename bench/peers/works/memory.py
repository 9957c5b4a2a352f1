"""Fills, asks and writes the databases that bench/peers/works/memory.ts compares a memory with.

Usage: memory.py FOLDER PEER. The databases are on the disk. One thread searches, where a database can be told so.
"""

import json
import os
import pathlib
import sys
import tempfile

import numpy as np
from serve import serve

K = 10
TRANSACTION = 1000


def connect_sqlite(path):
    import apsw  # the sqlite3 of some Pythons loads no extensions

    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    return connection


class SqliteVec:
    def __init__(self, dimension):
        self.dimension = dimension

    def connect(self, folder):
        import sqlite_vec

        connection = connect_sqlite(folder / "records.db")
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        return connection

    def fill(self, folder, vectors):
        connection = self.connect(folder)
        columns = f"embedding float[{self.dimension}] distance_metric=cosine, +context text"
        connection.execute(f"CREATE VIRTUAL TABLE records USING vec0({columns})")
        connection.execute("BEGIN")
        rows = ((i, vector.tobytes(), f"record-{i}") for i, vector in enumerate(vectors))
        connection.executemany("INSERT INTO records(rowid, embedding, context) VALUES (?, ?, ?)", rows)
        connection.execute("COMMIT")
        connection.close()

    def read(self, folder):
        rows = self.connect(folder).execute("SELECT rowid, embedding FROM records ORDER BY rowid")
        return [number for id, vector in rows for number in (id, np.frombuffer(vector, "<f4", 1)[0])]

    def open(self, folder):
        connection = self.connect(folder)
        sql = f"SELECT rowid, distance FROM records WHERE embedding MATCH ? AND k = {K} ORDER BY distance"
        return lambda query: connection.execute(sql, (query.tobytes(),)).fetchall()


def build_table(vectors):
    import pyarrow

    dimension = vectors.shape[1]
    numbers = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(vectors.ravel()), dimension)
    context = pyarrow.array([f"record-{i}" for i in range(len(vectors))])
    return pyarrow.table({"id": np.arange(len(vectors)), "context": context, "embedding": numbers})


class DuckDb:
    def __init__(self, dimension):
        self.type = f"FLOAT[{dimension}]"

    def connect(self, folder):
        import duckdb

        return duckdb.connect(str(folder / "records.duckdb"), config={"threads": 1})

    def fill(self, folder, vectors):
        connection = self.connect(folder)
        connection.register("given", build_table(vectors))
        connection.execute(f"CREATE TABLE records AS SELECT id, context, embedding::{self.type} AS embedding FROM given")
        connection.close()

    def read(self, folder):
        with self.connect(folder) as connection:
            rows = connection.execute("SELECT id, embedding[1] FROM records ORDER BY id").fetchall()
        return [number for row in rows for number in row]

    def open(self, folder):
        connection = self.connect(folder)
        distance = f"array_cosine_distance(embedding, ?::{self.type})"
        sql = f"SELECT id, {distance} AS distance FROM records ORDER BY distance LIMIT {K}"
        return lambda query: connection.execute(sql, [query]).fetchall()


class LanceDb:
    def __init__(self, dimension):
        pass

    def connect(self, folder):
        import lancedb

        return lancedb.connect(str(folder))

    def fill(self, folder, vectors):
        self.connect(folder).create_table("records", build_table(vectors))

    def read(self, folder):
        table = self.connect(folder).open_table("records").to_arrow()
        first = np.stack(table["embedding"].to_numpy())[:, 0]
        return np.stack([table["id"].to_numpy(), first], axis=1).ravel()

    def open(self, folder):
        table = self.connect(folder).open_table("records")

        def ask(query):
            found = table.search(query).distance_type("cosine").select(["id"]).limit(K).to_arrow()
            return zip(found["id"].to_pylist(), found["_distance"].to_pylist())

        return ask


DATABASES = {"sqlite-vec": SqliteVec, "duckdb": DuckDb, "lancedb": LanceDb}


def open_filled(make_folder, peer, dimension, vectors, queries):
    database = DATABASES[peer](dimension)
    kept = {}

    def fill():
        folder = kept["folder"] = make_folder()
        database.fill(folder, vectors)
        return lambda: database.read(folder)

    def ask():
        if "ask" not in kept:
            kept["ask"] = database.open(kept["folder"])
        found = [list(kept["ask"](query)) for query in queries]
        return lambda: [number for rows in found for id, distance in rows for number in (id, 1 - distance)]

    return {"bulk-load": fill, "memory-query": ask}


def open_writer(make_folder, writes, payload):
    def read(path):
        rows = connect_sqlite(path).execute("SELECT id FROM records")
        return sorted(int(id[len("record-") :]) for (id,) in rows)

    def write(count):
        path = make_folder() / "records.db"
        connection = connect_sqlite(path)
        connection.execute("CREATE TABLE records (id TEXT PRIMARY KEY, record BLOB)")
        for i in range(count):
            connection.execute("INSERT INTO records VALUES (?, ?)", (f"record-{i}", payload))
        connection.close()  # moves what is left of the log to the table
        return lambda: read(path)

    return {f"durable-writer/{writers}": (lambda count=count: write(count)) for writers, count in writes.items()}


def main(folder, peer):
    settings = json.loads((folder / "settings.json").read_text())
    dimension = settings["dimension"]
    read = lambda name: np.fromfile(folder / name, dtype="<f4").reshape(-1, dimension)
    make_folder = lambda: pathlib.Path(tempfile.mkdtemp(dir=folder, prefix=f"{peer}-"))
    if peer == "sqlite":
        serve(open_writer(make_folder, settings["writes"], os.urandom(settings["bytes"])))
    else:
        serve(open_filled(make_folder, peer, dimension, read("vectors.f32"), read("queries.f32")))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2])
