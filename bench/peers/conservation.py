"""Magnitude, energy and information of a memory in numpy, float64.

Usage: conservation.py FOLDER. Reads the records that bench/conservation-peer.ts wrote to the folder, and computes the
figures of the first n of them for each size, energy by all pairs where the size is among the pairwise ones, and by the
length of the mean direction. Prints median seconds and figures as JSON.
"""

import json
import pathlib
import statistics
import sys
import time

import numpy as np


def parts(embeddings, salience):
    embeddings = embeddings.astype(np.float64)
    lengths = np.linalg.norm(embeddings, axis=1)
    shares = salience / salience.sum()
    figures = {"magnitude": float(shares @ lengths), "information": float(-(shares * np.log(shares)).sum())}
    return embeddings / lengths[:, None], shares, figures


def by_definition(embeddings, salience):
    directions, shares, figures = parts(embeddings, salience)
    return {**figures, "energy": float(0.5 * shares @ (directions @ directions.T) @ shares)}


def by_mean(embeddings, salience):
    directions, shares, figures = parts(embeddings, salience)
    mean = shares @ directions
    return {**figures, "energy": float(0.5 * mean @ mean)}


def measure(compute, repeats):
    figures = compute()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        compute()
        times.append(time.perf_counter() - start)
    return {"seconds": statistics.median(times), "figures": figures}


def main(folder):
    settings = json.loads((folder / "settings.json").read_text())
    embeddings = np.fromfile(folder / "embeddings.f32", dtype="<f4").reshape(-1, settings["dimension"])
    salience = np.fromfile(folder / "salience.f64", dtype="<f8")

    def run(form, sizes):
        return [measure(lambda: form(embeddings[:n], salience[:n]), settings["repeats"]) for n in sizes]

    pairwise = run(by_definition, settings["pairwise"])
    print(json.dumps({"pairwise": pairwise, "mean": run(by_mean, settings["sizes"])}))


main(pathlib.Path(sys.argv[1]))
