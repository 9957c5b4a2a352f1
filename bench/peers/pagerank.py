"""Personalised PageRank by power iteration with scipy's sparse matrices, in float64.

Usage: pagerank.py FOLDER. Reads the graph and the queries that bench/pagerank-peer.ts wrote to the folder, solves them at
every tolerance one by one and as one block, writes the scores to scores-<i>.f64, row-major [B, V], and prints the times as JSON.
"""

import json
import pathlib
import sys
import time

import numpy as np
import scipy.sparse


def iterate(incoming, dangling, seeds, damping, tolerance, max_iterations):
    """seeds is [V] or [V, B]; incoming is damping times the transposed transition matrix, in compressed rows."""
    ranks = seeds
    for iteration in range(1, max_iterations + 1):
        lost = ranks[dangling].sum(axis=0)
        following = incoming @ ranks + (1 - damping + damping * lost) * seeds
        change = np.abs(following - ranks).sum(axis=0).max()
        ranks = following
        if change < tolerance:
            return ranks, iteration
    raise RuntimeError(f"not converged, residual: {change}")


def fewest_milliseconds(solve, repeats):
    result = solve()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        result = solve()
        times.append(1000 * (time.process_time() - start))
    return min(times), result


def main(folder):
    settings = json.loads((folder / "settings.json").read_text())
    nodes, queries, damping = settings["nodes"], settings["queries"], settings["damping"]
    read = lambda name, kind: np.fromfile(folder / name, dtype=kind)
    edges = (read("weights.f64", "<f8"), (read("sources.i32", "<i4"), read("targets.i32", "<i4")))
    weights = scipy.sparse.coo_matrix(edges, shape=(nodes, nodes)).tocsr()
    out = np.asarray(weights.sum(axis=1)).ravel()
    dangling = np.flatnonzero(out == 0)
    shares = damping / np.where(out == 0, 1, out)
    incoming = scipy.sparse.csr_matrix((scipy.sparse.diags(shares) @ weights).T)
    seeds = np.zeros((queries, nodes))
    seeds[read("seed-queries.i32", "<i4"), read("seed-nodes.i32", "<i4")] = read("seed-weights.f64", "<f8")
    seeds /= seeds.sum(axis=1, keepdims=True)
    block = np.ascontiguousarray(seeds.T)

    report = []
    for i, tolerance in enumerate(settings["tolerances"]):
        limits = (damping, tolerance, settings["maxIterations"])
        single, results = fewest_milliseconds(
            lambda: [iterate(incoming, dangling, row, *limits) for row in seeds], settings["repeats"]
        )
        together, _ = fewest_milliseconds(lambda: iterate(incoming, dangling, block, *limits), settings["repeats"])
        np.stack([ranks for ranks, _ in results]).astype("<f8").tofile(folder / f"scores-{i}.f64")
        report.append(
            {
                "singleMilliseconds": single / queries,
                "blockMilliseconds": together / queries,
                "iterations": sum(iteration for _, iteration in results) / queries,
            }
        )
    print(json.dumps(report))


main(pathlib.Path(sys.argv[1]))
