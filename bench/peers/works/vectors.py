"""Searches the vectors of bench/peers/works/vectors.ts with hnswlib, usearch or faiss, on one thread.

Usage: vectors.py FOLDER PEER.
"""

import json
import pathlib
import sys

import numpy as np
from serve import serve

K, M, CONSTRUCTION, BREADTH = 10, 16, 200, 100


class Hnswlib:
    def build(self, vectors, seed):
        import hnswlib

        index = hnswlib.Index(space="ip", dim=vectors.shape[1])
        index.init_index(max_elements=len(vectors), M=M, ef_construction=CONSTRUCTION, random_seed=seed)
        index.add_items(vectors, num_threads=1)
        index.set_ef(BREADTH)
        self.index = index

    def search(self, queries):
        """Positions and similarities, [Q, K] each."""
        positions, distances = self.index.knn_query(queries, k=K, num_threads=1)
        return positions, 1 - distances


class Usearch:
    def build(self, vectors, _seed):
        from usearch.index import Index

        options = {"connectivity": M, "expansion_add": CONSTRUCTION, "expansion_search": BREADTH}
        index = Index(ndim=vectors.shape[1], metric="ip", dtype="f32", **options)
        index.add(np.arange(len(vectors)), vectors, threads=1)
        self.index = index

    def search(self, queries):
        found = self.index.search(queries, K, threads=1)
        return found.keys, 1 - found.distances


class Faiss:
    def __init__(self):
        import faiss

        faiss.omp_set_num_threads(1)
        self.faiss = faiss

    def build(self, vectors, _seed):
        index = self.faiss.IndexHNSWFlat(vectors.shape[1], M, self.faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction, index.hnsw.efSearch = CONSTRUCTION, BREADTH
        index.add(vectors)
        self.index = index

    def build_flat(self, vectors):
        self.flat = self.faiss.IndexFlatIP(vectors.shape[1])
        self.flat.add(vectors)

    def search(self, queries):
        similarities, positions = self.index.search(queries, K)
        return positions, similarities

    def search_flat(self, queries):
        similarities, positions = self.flat.search(queries, K)
        return positions, similarities


def list_rankings(found):
    return np.stack(found, axis=2, dtype="f8", casting="unsafe").ravel()


def main(folder, peer):
    settings = json.loads((folder / "facts.json").read_text())["settings"]
    dimension = settings["dimension"]
    read = lambda name: np.fromfile(folder / name, dtype="<f4").reshape(-1, dimension)
    vectors, queries = read("vectors.f32"), read("queries.f32")
    index = {"hnswlib": Hnswlib, "usearch": Usearch, "faiss": Faiss}[peer]()

    def build():
        index.build(vectors, settings["seed"])
        return lambda: list_rankings(index.search(queries))

    def search(find):
        found = find(queries)
        return lambda: list_rankings(found)

    works = {}
    for work in json.loads((folder / "settings.json").read_text())["works"]:
        works[work] = build if work.startswith("hnsw-build") else lambda: search(index.search)
    if peer == "faiss":
        index.build_flat(vectors)
        works["flat-search"] = lambda: search(index.search_flat)
    serve(works)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2])
