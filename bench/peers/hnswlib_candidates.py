"""hnswlib of PyPI over the vectors that bench/candidates.ts wrote.

Usage: hnswlib_candidates.py FOLDER SETTINGS. SETTINGS is JSON: dimension, m, efConstruction, efSearch, seed, k. Reads
vectors.f32 and queries.f32 from FOLDER, builds the graph on one thread, and prints as JSON the times of
bench/candidate-timing.ts, and the rows found for each query.
"""

import json
import pathlib
import sys
import time

import hnswlib
import numpy as np


def main(folder, settings):
    read = lambda name: np.fromfile(folder / name, dtype="<f4").reshape(-1, settings["dimension"])
    vectors, queries = read("vectors.f32"), read("queries.f32")
    index = hnswlib.Index(space="ip", dim=settings["dimension"])
    index.init_index(len(vectors), M=settings["m"], ef_construction=settings["efConstruction"], random_seed=settings["seed"])
    index.set_num_threads(1)
    wall, processor = time.perf_counter(), time.process_time()
    index.add_items(vectors, num_threads=1)
    index.set_ef(settings["efSearch"])
    build = {"buildSeconds": time.perf_counter() - wall, "buildProcessorSeconds": time.process_time() - processor}
    singles = []
    for query in queries:
        start = time.perf_counter()
        index.knn_query(query, k=settings["k"], num_threads=1)
        singles.append(1000 * (time.perf_counter() - start))
    wall, processor = time.perf_counter(), time.process_time()
    found, _ = index.knn_query(queries, k=settings["k"], num_threads=1)
    each = 1000 / len(queries)
    search = {
        "singleMilliseconds": float(np.median(singles)),
        "batchMilliseconds": each * (time.perf_counter() - wall),
        "batchProcessorMilliseconds": each * (time.process_time() - processor),
    }
    print(json.dumps({"timing": {**build, **search}, "found": found.astype(int).ravel().tolist()}))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), json.loads(sys.argv[2]))
