"""Late interaction of questions with N turns in torch, float32: the score zidf of every turn.

Usage: late.py FOLDER. Reads the tokens in 8 bits that bench/late-peer.ts wrote to the folder. For each line {"threads": n}
of the input, null for torch's own number, it scores once and prints {"milliseconds": .., "threads": .., "way": ..}. The
first line for a number of threads finds the fastest way, which the others take. The scores of the last line are in
scores.f32, row-major [questions, N].

Turns all have the same number of tokens here, so that the maximum of a turn is one over an axis. The inverse document
frequencies of the pieces are input: they are computed before, and not timed.
"""

import json
import pathlib
import sys
import time

import numpy as np
import torch

BLOCKS = (16, 64, 256, 1024, None)  # turns of a product; None: all at once
REPEATS = 2


def read_tokens(folder, name, dimension):
    read = lambda part, kind: torch.from_numpy(np.fromfile(folder / f"{name}-{part}.bin", dtype=kind))
    return read("ids", "<i4"), read("scales", "<f4")[:, None], read("values", "i1").reshape(-1, dimension)


def inverse_frequencies(turn_ids, question_ids, turns):
    """BM25's ln(1 + (N - n + 0.5) / (n + 0.5)) of each piece of the questions, n turns of N having it."""
    found = torch.zeros(int(max(turn_ids.max(), question_ids.max())) + 1)
    for row in turn_ids.reshape(turns, -1):
        found[row.unique().long()] += 1
    n = found[question_ids.long()]
    return torch.log(1 + (turns - n + 0.5) / (n + 0.5))


def maxima(scales, values, transposed, turns, block):
    """[N, T], the largest product of each token of the questions with a token of each turn."""
    tokens = len(values) // turns
    block = turns if block is None else block
    found = torch.empty(turns, transposed.shape[1])
    for start in range(0, turns, block):
        end = min(turns, start + block)
        rows = slice(start * tokens, end * tokens)
        products = (values[rows] * scales[rows]) @ transposed
        torch.amax(products.reshape(end - start, tokens, -1), 1, out=found[start:end])
    return found


def score(turn, question, weights, settings, block):
    turns, questions = settings["turns"], settings["questions"]
    transposed = (question[2] * question[1]).T.contiguous()
    found = maxima(turn[1], turn[2], transposed, turns, block)
    standardised = (found - found.mean(0)) / found.std(0, correction=0)
    shares = (weights.reshape(questions, -1) / weights.reshape(questions, -1).sum(1, keepdim=True)).flatten()
    return (standardised * shares).reshape(turns, questions, -1).sum(2).T.contiguous()


@torch.inference_mode()
def main(folder):
    settings = json.loads((folder / "settings.json").read_text())
    own = torch.get_num_threads()
    turn, question = (read_tokens(folder, name, settings["dimension"]) for name in ("turns", "questions"))
    weights = inverse_frequencies(turn[0], question[0], settings["turns"])

    def run(block):
        start = time.perf_counter()
        scores = score(turn, question, weights, settings, block)
        return 1000 * (time.perf_counter() - start), scores

    blocks = [block for block in BLOCKS if block is None or block < settings["turns"]]
    fastest = {}
    for line in sys.stdin:
        threads = json.loads(line)["threads"] or own
        torch.set_num_threads(threads)
        if threads not in fastest:
            run(blocks[-1])
            fastest[threads] = min(blocks, key=lambda block: min(run(block)[0] for _ in range(REPEATS)))
        milliseconds, scores = run(fastest[threads])
        scores.numpy().astype("<f4").tofile(folder / "scores.f32")
        way = "all turns at once" if fastest[threads] is None else f"{fastest[threads]} turns at once"
        report = {"milliseconds": milliseconds, "threads": threads, "way": way, "version": torch.__version__}
        print(json.dumps(report), flush=True)


main(pathlib.Path(sys.argv[1]))
