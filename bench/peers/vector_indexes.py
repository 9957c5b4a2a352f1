"""Vector indexes of PyPI over the vectors that bench/memory.ts wrote.

Usage: vector_indexes.py FOLDER NAME BREADTHS. NAME is one of faiss-flat, faiss-hnsw, faiss-ivfflat, hnswlib-paper,
hnswlib-specification and sqlite-vec; BREADTHS is a JSON list of efSearch or nprobe. Reads the
vectors from FOLDER, builds the index on one thread, asks one query at a time, and prints as JSON what
bench/memory-index.ts measures of an index. Linux only: the memory is read from /proc.
"""

import json
import os
import pathlib
import sys
import tempfile
import time

import numpy as np

K = 10
CHUNK = 1000
LISTS = 100


def resident_bytes():
    """Without the pages of mapped files, among them the vectors that are read."""
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("RssAnon")).split()[1])


def percentile(times, percent):
    ordered = sorted(times)
    return ordered[max(0, min(len(ordered) - 1, -(-percent * len(ordered) // 100) - 1))]


class Faiss:
    def __init__(self, name, size, dimension):
        import faiss

        faiss.omp_set_num_threads(1)
        self.faiss = faiss
        self.name = name
        if name == "faiss-flat":
            self.index = faiss.IndexFlatIP(dimension)
            self.breadth = None
        elif name == "faiss-hnsw":
            self.index = faiss.IndexHNSWFlat(dimension, 32, faiss.METRIC_INNER_PRODUCT)
            self.index.hnsw.efConstruction = 200
            self.widen(128)
        else:
            lists = min(LISTS, size)
            quantizer = faiss.IndexFlatIP(dimension)
            self.index = faiss.IndexIVFFlat(quantizer, dimension, lists, faiss.METRIC_INNER_PRODUCT)
            self.widen(10)

    def widen(self, breadth):
        self.breadth = breadth
        if self.name == "faiss-hnsw":
            self.index.hnsw.efSearch = breadth
        else:
            self.index.nprobe = breadth

    def build(self, vectors):
        if not self.index.is_trained:
            self.index.train(np.ascontiguousarray(vectors))
        for start in range(0, len(vectors), CHUNK):
            self.index.add(np.ascontiguousarray(vectors[start : start + CHUNK]))

    def search(self, query):
        return self.index.search(query, K)[1][0]

    def save(self, path):
        self.faiss.write_index(self.index, path)


class Hnswlib:
    PRESETS = {"hnswlib-paper": (32, 200, 128), "hnswlib-specification": (16, 200, 50)}

    def __init__(self, name, size, dimension):
        import hnswlib

        m, construction, breadth = self.PRESETS[name]
        self.index = hnswlib.Index(space="ip", dim=dimension)
        self.index.init_index(max_elements=size, M=m, ef_construction=construction, random_seed=1)
        self.index.set_num_threads(1)
        self.widen(breadth)

    def widen(self, breadth):
        self.breadth = breadth
        self.index.set_ef(breadth)

    def build(self, vectors):
        for start in range(0, len(vectors), CHUNK):
            chunk = np.ascontiguousarray(vectors[start : start + CHUNK])
            self.index.add_items(chunk, np.arange(start, start + len(chunk)))

    def search(self, query):
        return self.index.knn_query(query, k=K, num_threads=1)[0][0]

    def save(self, path):
        self.index.save_index(path)


class SqliteVec:
    """Exact search by cosine in SQLite, in memory."""

    breadth = None

    def __init__(self, name, size, dimension):
        import apsw
        import sqlite_vec

        self.connection = apsw.Connection(":memory:")  # not every sqlite3 of Python loads extensions
        self.connection.enable_load_extension(True)
        self.connection.load_extension(sqlite_vec.loadable_path())
        self.connection.execute(f"CREATE VIRTUAL TABLE v USING vec0(e float[{dimension}] distance_metric=cosine)")

    def build(self, vectors):
        rows = ((number, vector.tobytes()) for number, vector in enumerate(vectors))
        with self.connection:
            self.connection.executemany("INSERT INTO v(rowid, e) VALUES (?, ?)", rows)

    def search(self, query):
        found = self.connection.execute("SELECT rowid FROM v WHERE e MATCH ? AND k = ?", (query.tobytes(), K))
        return np.array([number for (number,) in found])

    def save(self, path):
        self.connection.execute("VACUUM INTO ?", (path,))


INDEXES = {"faiss": Faiss, "hnswlib": Hnswlib, "sqlite": SqliteVec}


def measure_searches(index, queries, exact):
    index.search(queries[:1])
    times, shares = [], []
    for query, best in zip(queries, exact):
        start = time.perf_counter()
        found = index.search(query[None, :])
        times.append(1000 * (time.perf_counter() - start))
        shares.append(len(set(best) & set(found.tolist())) / len(best))
    figures = {"p50": float(np.median(times)), "p99": percentile(times, 99), "recall": float(np.mean(shares))}
    return {**figures, "breadth": index.breadth}


def main(folder, name):
    facts = json.loads((folder / "facts.json").read_text())
    settings = facts["settings"]
    size, dimension = settings["size"], settings["dimension"]
    vectors = np.memmap(folder / "vectors.f32", dtype="<f4", mode="r", shape=(size, dimension))
    queries = np.fromfile(folder / "queries.f32", dtype="<f4").reshape(-1, dimension)
    exact = facts["exact"]["100"]
    index = INDEXES[name.split("-")[0]](name, size, dimension)
    before = resident_bytes()
    start, start_processor = time.perf_counter(), time.process_time()
    index.build(np.array(vectors))
    seconds, processor = time.perf_counter() - start, time.process_time() - start_processor
    search = measure_searches(index, queries, exact)
    resident = resident_bytes() - before
    curve = []
    for breadth in json.loads(sys.argv[3]) if index.breadth is not None else []:
        index.widen(breadth)
        curve.append(measure_searches(index, queries, exact))
    with tempfile.TemporaryDirectory() as saved:
        path = os.path.join(saved, "index")
        index.save(path)
        disk = os.path.getsize(path)
    build = {"loadSeconds": seconds, "buildSeconds": seconds, "buildProcessorSeconds": processor}
    bytes_each = {"residentBytes": resident / size, "diskBytes": disk / size}
    report = {"name": name, "size": size, **build, "search": search, **bytes_each}
    print(json.dumps({**report, "openSeconds": None, "curve": curve, "filtered": []}))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2])
