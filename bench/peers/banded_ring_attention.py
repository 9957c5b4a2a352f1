"""Banded multiplicative ring attention of a conversation with itself in torch, float32, on one thread.

Usage: banded_ring_attention.py FOLDER. Reads embeddings.f32 and settings.json (dimension, decay, temperature) from the
folder. For each line {"turns": n, "width": W, "least_seconds": s, "write": false} of the input it attends over the first
n turns, again until s seconds have passed, and prints {"seconds": .., "block": .., "version": ..}: processor time of the
fastest. With "write" the output is in output.f32.
A line {"rate": true} prints {"gflops": ..}, of a product of matrices. Queries of a block are multiplied with all keys
of their bands at once; the first line for a width finds the fastest block, which the others take.

Keys more than W steps away weigh e^0 = 1, so they are a total: with l the logits within the band, an output row is
(total + sum over the band of (e^l - 1) v) / (n + sum over the band of (e^l - 1)).
"""

import json
import pathlib
import sys
import time

import numpy as np
import torch

BLOCKS = (32, 64, 128, 256, 512)
# Turns and repetitions that a block is chosen by.
TRIAL, REPEATS = 4096, 2


def around(rows, start, end):
    """Rows start ... end - 1 of a ring, a view where none lies beyond its ends."""
    if start >= 0 and end <= len(rows):
        return rows[start:end]
    return rows[torch.arange(start, end).remainder_(len(rows))]


def attend(embeddings, width, block, decay, temperature):
    turns = len(embeddings)
    units = torch.nn.functional.normalize(embeddings, dim=1)
    output = torch.empty_like(embeddings)
    total = embeddings.sum(0, dtype=torch.float64).to(torch.float32)
    steps = (torch.arange(block + 2 * width)[None, :] - width - torch.arange(block)[:, None]).abs_()
    spatial = torch.exp(-decay * steps.to(torch.float32)) * (0.5 / temperature)
    spatial *= steps <= width  # logits of 0 elsewhere, whose e^l - 1 is 0
    for start in range(0, turns, block):
        rows = min(block, turns - start)
        seen = (start - width, start + rows + width)
        cosines = units[start : start + rows] @ around(units, *seen).T
        weights = cosines.add_(1).mul_(spatial[:rows, : rows + 2 * width]).expm1_()
        scale = (weights.sum(1, keepdim=True) + turns).reciprocal_()
        torch.addmm(total * scale, weights.mul_(scale), around(embeddings, *seen), out=output[start : start + rows])
    return output


def rate():
    a, b = torch.randn(1024, 512), torch.randn(512, 1024)
    best = float("inf")
    for _ in range(20):
        start = time.process_time()
        a @ b
        best = min(best, time.process_time() - start)
    return 2 * 1024 * 512 * 1024 / best / 1e9


def read(folder):
    """The settings and the rows of a folder."""
    settings = json.loads((folder / "settings.json").read_text())
    embeddings = torch.from_numpy(np.fromfile(folder / "embeddings.f32", dtype="<f4"))
    return settings, embeddings.reshape(-1, settings["dimension"])


@torch.inference_mode()
def run(embeddings, width, block, logit):
    start = time.process_time()
    output = attend(embeddings, width, block, *logit)
    return time.process_time() - start, output


def find_block(embeddings, width, logit):
    """The fastest number of queries of a block."""
    time_block = lambda block: min(run(embeddings[:TRIAL], width, block, logit)[0] for _ in range(REPEATS))
    return min(BLOCKS, key=time_block)


def main(folder):
    torch.set_num_threads(1)
    settings, embeddings = read(folder)
    logit = settings["decay"], settings["temperature"]
    fastest = {}
    for line in sys.stdin:
        question = json.loads(line)
        if question.get("rate"):
            print(json.dumps({"gflops": rate()}), flush=True)
            continue
        turns, width = question["turns"], question["width"]
        rows = embeddings[:turns]
        if width not in fastest:
            fastest[width] = find_block(rows, width, logit)
        seconds, output = run(rows, width, fastest[width], logit)
        passed = seconds
        while passed < question["least_seconds"]:
            again, output = run(rows, width, fastest[width], logit)
            seconds, passed = min(seconds, again), passed + again
        if question["write"]:
            output.numpy().tofile(folder / "output.f32")
        print(json.dumps({"seconds": seconds, "block": fastest[width], "version": torch.__version__}), flush=True)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
