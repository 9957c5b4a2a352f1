"""Banded ring attention of the conversation of bench/peers/works/ring.ts in torch, by bench/peers/banded_ring_attention.py.

Usage: ring.py FOLDER PEER.
"""

import pathlib
import sys

import torch
from serve import serve

sys.path.insert(1, str(pathlib.Path(__file__).parents[1]))
import banded_ring_attention as band  # noqa: E402


def main(folder):
    torch.set_num_threads(1)
    settings, embeddings = band.read(folder)
    logit = settings["decay"], settings["temperature"]
    works = {}
    for turns, width in zip(settings["turns"], settings["widths"]):
        rows = embeddings[:turns]
        block = band.find_block(rows, width, logit)

        def work(rows=rows, width=width, block=block):
            _, output = band.run(rows, width, block, logit)
            return lambda: output.numpy().ravel()

        works[f"ring-attention/{turns}"] = work
    serve(works)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
