"""Cosine, trajectory score and unified attention of candidates in torch, float32.

Usage: rerank.py FOLDER. Reads the corpus and the cases that bench/rerank-peer.ts wrote to the folder: for each case the
queries, and for each pair the candidate's row, coordinates and place on the ring. Writes each score to <name>-<case>.f32,
row-major [B, C], and prints the milliseconds of a batch as JSON, the median and the fastest of the repeats.
"""

import json
import pathlib
import statistics
import sys
import time

import numpy as np
import torch

TEMPORAL = 3
MIX = {"rcp": 0.4, "ircp": 0.4, "tpo": 0.2}
TRAJECTORY_WEIGHT, ATTENTION_WEIGHT = 0.3, 0.2


def cosines_by_gather(corpus, queries, positions):
    return torch.bmm(corpus[positions], queries.unsqueeze(2)).squeeze(2)


def cosines_by_product(corpus, queries, positions):
    return torch.gather(queries @ corpus.T, 1, positions)


COSINES = (cosines_by_gather, cosines_by_product)


def trajectory_distances(candidates, queries, cold, weights):
    squares = (candidates - queries).square_().mul_(weights)
    return torch.where(cold, squares[:, :, TEMPORAL], squares.sum(2)).sqrt_()


def logits_of(cosine, distance, decay, temperature):
    return (cosine + 1).mul_(torch.exp(-decay * distance)).mul_(0.5 / temperature)


def log_masses(tables, rows, places, turns, logit):
    """Of the keys that each candidate sees after it, [P]: those at most W steps away looked up, the others e^0 each."""
    width = tables["width"]
    ring = (turns + 1)[:, None]
    steps = (turns - places)[:, None]
    ahead = torch.arange(width + 1)[None, :]
    seen = ahead < steps
    near = logits_of(tables["next"][rows], torch.minimum(ahead, ring - ahead).clamp_(min=0).float(), *logit)
    back = torch.arange(1, width + 1)[None, :]
    wrapped = ring - back
    round_seen = (wrapped > width) & (wrapped < steps)
    last = len(tables["first"]) - 1
    around = tables["first"][(rows[:, None] + wrapped).clamp_(max=last), places[:, None].clamp(max=width - 1)]
    far_side = logits_of(around, back.float(), *logit)
    powers = (near.exp_() * seen).sum(1) + (far_side.exp_() * round_seen).sum(1)
    return torch.log(powers + (steps[:, 0] - seen.sum(1) - round_seen.sum(1)))


def unified(cosine, distances, case, tables, logit):
    ring = logits_of(cosine, case["ring_distances"], *logit)
    masses = log_masses(tables, case["rows"].flatten(), case["places"].flatten(), case["turns"].flatten(), logit)
    ircp = torch.sigmoid(ring - masses.reshape(ring.shape))
    tpo = torch.softmax(logits_of(cosine, distances, *logit), 1)
    return MIX["rcp"] * torch.softmax(ring, 1) + MIX["ircp"] * ircp + MIX["tpo"] * tpo


def final(cosine, trajectory, attention):
    by_maximum = lambda scores: scores / scores.amax(1, keepdim=True)
    placed = (1 - TRAJECTORY_WEIGHT) * by_maximum((1 + cosine) / 2) + TRAJECTORY_WEIGHT * trajectory
    return (1 - ATTENTION_WEIGHT) * by_maximum(placed) + ATTENTION_WEIGHT * by_maximum(attention)


def milliseconds(work, repeats):
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(1000 * (time.perf_counter() - start))
    return {"median": statistics.median(times), "fastest": min(times)}


def read_case(folder, i, batch, dimension):
    read = lambda name, kind: torch.from_numpy(np.fromfile(folder / f"{name}-{i}.bin", dtype=kind))
    positions = read("positions", "<i4").reshape(batch, -1)
    shape = positions.shape
    return {
        "queries": read("queries", "<f4").reshape(batch, dimension),
        "positions": positions.long(),
        "candidates": read("candidateCoordinates", "<f4").reshape(*shape, -1),
        "points": read("queryCoordinates", "<f4").reshape(*shape, -1),
        "cold": read("coldStart", "u1").reshape(shape).bool(),
        "ring_distances": read("ringDistances", "<f4").reshape(shape),
        "places": read("ringPositions", "<i4").reshape(shape).long(),
        "turns": read("turns", "<i4").reshape(shape).long(),
    }


def read_all(folder, settings):
    """The corpus, the tables of forward cosines, and the cases."""
    dimension, width = settings["dimension"], settings["width"]
    read = lambda name, kind: torch.from_numpy(np.fromfile(folder / name, dtype=kind))
    corpus = read("corpus.bin", "<f4").reshape(-1, dimension)
    tables = {
        "width": width,
        "next": read("next.bin", "<f4").reshape(-1, width + 1),
        "first": read("first.bin", "<f4").reshape(-1, width),
    }
    row_of = read("rows.bin", "<i4").long()
    cases = [read_case(folder, i, batch, dimension) for i, batch in enumerate(settings["batches"])]
    for case in cases:
        case["rows"] = row_of[case["positions"]]
    return corpus, tables, cases


def find_distances(case, weights):
    return trajectory_distances(case["candidates"], case["points"], case["cold"], weights)


def score_all(find_cosines, corpus, case, tables, weights, logit):
    cosine, distances = find_cosines(corpus, case["queries"], case["positions"]), find_distances(case, weights)
    trajectory = torch.exp(-distances)
    attention = unified(cosine, distances, case, tables, logit)
    scores = {"cosine": cosine, "trajectory": trajectory, "attention": attention}
    return {**scores, "final": final(**scores)}


def main(folder):
    settings = json.loads((folder / "settings.json").read_text())
    logit, weights = (settings["decay"], settings["temperature"]), torch.tensor(settings["weights"])
    corpus, tables, cases = read_all(folder, settings)
    time_of = lambda work: milliseconds(work, settings["repeats"])
    report = []
    for i, case in enumerate(cases):
        score = lambda similar: similar(corpus, case["queries"], case["positions"])
        ways = {similar: time_of(lambda: score(similar)) for similar in COSINES}
        best = min(ways, key=lambda way: ways[way]["fastest"])
        whole = lambda: score_all(best, corpus, case, tables, weights, logit)
        scores = whole()
        for name, values in scores.items():
            values.numpy().astype("<f4").tofile(folder / f"{name}-{i}.f32")
        distances = find_distances(case, weights)
        report.append(
            {
                "cosine": ways[best],
                "trajectory": time_of(lambda: torch.exp(-find_distances(case, weights))),
                "unified": time_of(lambda: unified(scores["cosine"], distances, case, tables, logit)),
                "whole": time_of(whole),
            }
        )
    print(json.dumps(report))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
