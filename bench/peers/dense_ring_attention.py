"""Dense multiplicative ring attention of a conversation with itself in torch, float32.

Usage: dense_ring_attention.py FOLDER. Reads embeddings and sizes that bench/attention-peer.ts wrote to the folder, attends
over the first turns of each size, writes the sampled rows of the output to rows-<turns>.f32, and prints the times as JSON.
"""

import array
import json
import pathlib
import sys
import time

import torch

# Rows at a time: faster than all at once, whose n x n intermediates leave every cache.
CHUNK = 1024
# No further repeat of a size after this.
MOST_SECONDS = 10


def ring_attention(embeddings, decay, temperature):
    turns = len(embeddings)
    units = torch.nn.functional.normalize(embeddings, dim=1)
    keys = units.T.contiguous()
    places = torch.arange(turns)
    output = torch.empty_like(embeddings)
    for start in range(0, turns, CHUNK):
        rows = slice(start, start + CHUNK)
        steps = (places[rows, None] - places[None, :]).abs_()
        spatial = torch.minimum(steps, turns - steps).to(torch.float32).mul_(-decay).exp_()
        logits = (units[rows] @ keys).add_(1).mul_(0.5 / temperature).mul_(spatial)
        output[rows] = torch.softmax(logits, dim=1) @ embeddings
    return output


def blas():
    """The library that was loaded for matrix products, as Linux names its file."""
    maps = pathlib.Path("/proc/self/maps")
    lines = maps.read_text().splitlines() if maps.exists() else []
    found = [line.split()[-1] for line in lines if "blas" in line.rsplit("/", 1)[-1] or "mkl_core" in line]
    return pathlib.Path(found[0]).name if found else "the one inside torch"


def main(folder):
    settings = json.loads((folder / "settings.json").read_text())
    numbers = torch.frombuffer(bytearray((folder / "embeddings.f32").read_bytes()), dtype=torch.float32)
    embeddings = numbers.reshape(-1, settings["dimension"])
    logit = (settings["decay"], settings["temperature"])
    ring_attention(embeddings[:CHUNK], *logit)  # warms up
    seconds = []
    for size in settings["sizes"]:
        times = []
        while len(times) < settings["repeats"] and sum(times) < MOST_SECONDS:
            start = time.perf_counter()
            output = ring_attention(embeddings[: size["turns"]], *logit)
            times.append(time.perf_counter() - start)
        seconds.append(min(times))
        sampled = output[torch.tensor(size["samples"])].flatten().tolist()
        (folder / f"rows-{size['turns']}.f32").write_bytes(array.array("f", sampled).tobytes())
    print(json.dumps({"blas": blas(), "threads": torch.get_num_threads(), "seconds": seconds}))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
