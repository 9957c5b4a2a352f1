"""Banded ring attention of the conversation of bench/peers/works/ring.ts in torch, float32, on one thread.

Usage: ring.py FOLDER PEER. A logit is (1 + cosine) / 2 / temperature * exp(-decay * distance). Keys further away than the
width of the band weigh e^0 = 1: a row is the sum of all values plus, within the band, each value times e^logit - 1. Products are
those of blocks of queries with the keys of their band. The number of queries of a block is the fastest of several.
"""

import json
import pathlib
import sys
import time

import numpy as np
import torch
from serve import serve

BLOCKS = (64, 128, 256, 512)
# Turns of the attention that chooses the block.
TRIAL = 4096


@torch.inference_mode()
def attend(embeddings, width, decay, temperature, block):
    turns, dimension = embeddings.shape
    units = torch.nn.functional.normalize(embeddings, dim=1)
    total = embeddings.sum(0, dtype=torch.float64).float()
    around = lambda rows: torch.cat([rows[-width:], rows, rows[:width]])
    keys, values = around(units), around(embeddings)
    steps = (torch.arange(block + 2 * width)[None, :] - width - torch.arange(block)[:, None]).abs()
    inside = (steps <= width).float()
    spatial = torch.exp(-decay * steps) * (0.5 / temperature)
    output = torch.empty_like(embeddings)
    for start in range(0, turns, block):
        count = min(block, turns - start)
        band = slice(start, start + count + 2 * width)
        columns = count + 2 * width
        powers = (units[start : start + count] @ keys[band].T).add_(1).mul_(spatial[:count, :columns])
        powers.exp_().sub_(1).mul_(inside[:count, :columns])
        sums = torch.addmm(total[None, :].expand(count, dimension), powers, values[band])
        output[start : start + count] = sums / (powers.sum(1) + turns)[:, None]
    return output


def time_block(embeddings, width, logit, block):
    times = []
    for _ in range(2):
        start = time.process_time()
        attend(embeddings[:TRIAL], width, *logit, block)
        times.append(time.process_time() - start)
    return min(times)


def main(folder):
    torch.set_num_threads(1)
    settings = json.loads((folder / "settings.json").read_text())
    logit = settings["decay"], settings["temperature"]
    numbers = np.fromfile(folder / "embeddings.f32", dtype="<f4")
    embeddings = torch.from_numpy(numbers.reshape(-1, settings["dimension"]))
    works = {}
    for turns, width in zip(settings["turns"], settings["widths"]):
        rows = embeddings[:turns]
        block = min(BLOCKS, key=lambda block: time_block(rows, width, logit, block))

        def work(rows=rows, width=width, block=block):
            output = attend(rows, width, *logit, block)
            return lambda: output.numpy().ravel()

        works[f"ring-attention/{turns}"] = work
    serve(works)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
