"""Personalised PageRank of an undirected weighted graph by networkx, scipy and igraph, one query at a time, and by scipy as blocks.

Usage: graph_pagerank.py FOLDER. Reads the edges, the seeds of the queries and the scores that bench/graph-walks.ts wrote to the
folder. Prints as JSON the processor times of each program and how far its scores and those of the folder are from power iteration in
float64 until a sweep changes less than 1e-14.
"""

import json
import pathlib
import statistics
import sys
import time

import igraph
import networkx
import numpy as np
import scipy.sparse

TOP = 10
# L1 change of a sweep. networkx multiplies its tolerance by the number of nodes.
TOLERANCE = 1e-8
EXACT = 1e-14
SWEEPS = 1000
# Of a block.
REPEATS = 3


def open_scipy(nodes, sources, targets, weights, damping, tolerance=TOLERANCE):
    ends = (np.concatenate([sources, targets]), np.concatenate([targets, sources]))
    matrix = scipy.sparse.coo_matrix((np.concatenate([weights, weights]), ends), shape=(nodes, nodes)).tocsr()
    out = np.asarray(matrix.sum(axis=1)).ravel()
    dangling = np.flatnonzero(out == 0)
    # The matrix is symmetric, so that its rows divided by the sums of its columns are the transposed transitions.
    incoming = matrix @ scipy.sparse.diags(damping / np.where(out == 0, 1, out))

    def solve(seeds):
        ranks = seeds  # [V], or [V, B]
        for _ in range(SWEEPS):
            following = incoming @ ranks + (1 - damping + damping * ranks[dangling].sum(axis=0)) * seeds
            change = np.abs(following - ranks).sum(axis=0).max()
            ranks = following
            if change < tolerance:
                return ranks
        raise RuntimeError(f"not converged, residual: {change}")

    return solve


def open_networkx(nodes, sources, targets, weights, damping):
    graph = networkx.Graph()
    graph.add_nodes_from(range(nodes))
    for source, target, weight in zip(sources.tolist(), targets.tolist(), weights.tolist()):
        if graph.has_edge(source, target):
            graph[source][target]["weight"] += weight
        else:
            graph.add_edge(source, target, weight=weight)

    def solve(seeds):
        personal = {int(node): seeds[node] for node in np.flatnonzero(seeds)}
        ranks = networkx.pagerank(graph, damping, personal, SWEEPS, TOLERANCE / nodes)
        return np.fromiter(ranks.values(), dtype=float, count=nodes)

    return solve


def open_igraph(nodes, sources, targets, weights, damping):
    graph = igraph.Graph(n=nodes, edges=np.column_stack([sources, targets]))
    weights = weights.tolist()

    def solve(seeds):
        ranks = graph.personalized_pagerank(directed=False, damping=damping, reset=seeds, weights=weights, implementation="prpack")
        return np.array(ranks)

    return solve


PROGRAMS = {"scipy": open_scipy, "igraph": open_igraph, "networkx": open_networkx}


def best(scores):
    """Ten nodes, of equal scores the first ones."""
    return set(np.lexsort((np.arange(len(scores)), -np.round(scores, 12)))[:TOP].tolist())


def judge(rows, exact, own):
    """Mean overlap of the ten best with ours, and the largest difference from the exact scores."""
    overlap = statistics.mean(len(best(row) & best(ours)) / TOP for row, ours in zip(rows, own))
    return {"overlap": overlap, "difference": max(float(np.abs(row - right).max()) for row, right in zip(rows, exact))}


def measure(name, edges, queries, settings):
    start = time.process_time()
    solve = PROGRAMS[name](*edges)
    built = time.process_time() - start
    times, rows = [], []
    for seeds in queries:
        if times and sum(times) + times[-1] > settings["seconds"]:
            break
        start = time.process_time()
        ranks = solve(seeds)
        times.append(time.process_time() - start)
        if len(rows) < settings["compared"]:
            rows.append(ranks)
    return {"name": name, "atOnce": 1, "buildSeconds": built, "milliseconds": 1000 * statistics.median(times), "queries": len(times)}, rows


def measure_blocks(edges, place, settings):
    """scipy on blocks of queries, the median of three times each; no block above the seconds of the settings, by the one before."""
    solve = open_scipy(*edges)
    each = 0.0
    for width in settings["widths"]:
        if each * width > settings["seconds"]:
            return
        block = np.ascontiguousarray(np.stack([place(query) for query in range(width)], axis=1))
        times = []
        for _ in range(REPEATS):
            start = time.process_time()
            ranks = solve(block)
            times.append(time.process_time() - start)
        each = statistics.median(times) / width
        report = {"name": "scipy", "atOnce": width, "buildSeconds": None, "milliseconds": 1000 * each, "queries": width}
        yield report, list(ranks.T[: settings["compared"]])


def main(folder):
    settings = json.loads((folder / "settings.json").read_text())
    nodes, damping, compared = settings["nodes"], settings["damping"], settings["compared"]
    read = lambda name, kind: np.fromfile(folder / name, dtype=kind)
    edges = (nodes, read("sources.i32", "<i4"), read("targets.i32", "<i4"), read("weights.f64", "<f8"), damping)
    seed_queries, seed_nodes, seed_weights = read("seed-queries.i32", "<i4"), read("seed-nodes.i32", "<i4"), read("seed-weights.f64", "<f8")

    def place(query):
        seeds = np.zeros(nodes)
        mine = seed_queries == query
        seeds[seed_nodes[mine]] = seed_weights[mine]
        return seeds / seeds.sum()

    solve = open_scipy(*edges, tolerance=EXACT)
    exact = [solve(place(query)) for query in range(compared)]
    own = [read(f"own-{row}.f64", "<f8").reshape(compared, nodes) for row in range(settings["own"])]
    others = []
    for name in settings["peers"]:
        report, rows = measure(name, edges, (place(query) for query in range(settings["queries"])), settings)
        others.append({**report, **judge(rows, exact, own[0])})
        if name == "scipy":
            others += [{**block, **judge(rows, exact, own[0])} for block, rows in measure_blocks(edges, place, settings)]
    print(json.dumps({"own": [judge(rows, exact, own[0]) for rows in own], "others": others}))


main(pathlib.Path(sys.argv[1]))
