"""Personalised PageRank of the graphs of bench/peers/works/pagerank.ts, float64, by scipy or igraph.

Usage: pagerank.py FOLDER PEER. scipy iterates all queries as a block or one by one, by the faster of both. igraph solves by PRPACK.
"""

import json
import pathlib
import sys
import time

import numpy as np
from serve import serve


class Scipy:
    def __init__(self, nodes, sources, targets, weights, damping):
        import scipy.sparse

        matrix = scipy.sparse.coo_matrix((weights, (sources, targets)), shape=(nodes, nodes)).tocsr()
        out = np.asarray(matrix.sum(axis=1)).ravel()
        self.dangling = np.flatnonzero(out == 0)
        shares = damping / np.where(out == 0, 1, out)
        self.incoming = scipy.sparse.csr_matrix((scipy.sparse.diags(shares) @ matrix).T)
        self.damping = damping

    def iterate(self, seeds, tolerance, most):
        """seeds is [V] or [V, B]."""
        ranks = seeds
        for _ in range(most):
            lost = ranks[self.dangling].sum(axis=0)
            following = self.incoming @ ranks + (1 - self.damping + self.damping * lost) * seeds
            change = np.abs(following - ranks).sum(axis=0).max()
            ranks = following
            if change < tolerance:
                return ranks
        raise RuntimeError(f"not converged, residual: {change}")

    def choose(self, seeds, tolerance, most):
        block = np.ascontiguousarray(seeds.T)
        ways = [
            lambda: self.iterate(block, tolerance, most).T,
            lambda: np.stack([self.iterate(row, tolerance, most) for row in seeds]),
        ]

        def time_of(solve):
            start = time.process_time()
            solve()
            return time.process_time() - start

        return min(ways, key=lambda solve: min(time_of(solve) for _ in range(2)))


class Igraph:
    def __init__(self, nodes, sources, targets, weights, damping):
        import igraph

        self.graph = igraph.Graph(n=nodes, edges=np.column_stack([sources, targets]), directed=True)
        self.options = {"damping": damping, "weights": weights.tolist(), "implementation": "prpack"}

    def choose(self, seeds, _tolerance, _most):
        rows = seeds.tolist()
        return lambda: np.array([self.graph.personalized_pagerank(reset=row, **self.options) for row in rows])


def main(folder, peer):
    settings = json.loads((folder / "settings.json").read_text())
    works = {}
    for case in settings["cases"]:
        nodes = case["nodes"]
        read = lambda name, kind: np.fromfile(folder / f"{nodes}-{name}", dtype=kind)
        edges = read("sources", "<i4"), read("targets", "<i4"), read("weights", "<f8")
        seeds = np.zeros((settings["batch"], nodes))
        seeds[read("seedQueries", "<i4"), read("seedNodes", "<i4")] = read("seedWeights", "<f8")
        seeds /= seeds.sum(axis=1, keepdims=True)
        solver = {"scipy": Scipy, "igraph": Igraph}[peer](nodes, *edges, settings["damping"])
        solve = solver.choose(seeds, case["tolerance"], settings["maxIterations"])

        def work(solve=solve):
            scores = solve()
            return lambda: np.ascontiguousarray(scores).ravel()

        works[case["work"]] = work
    serve(works)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2])
