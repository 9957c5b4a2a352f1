"""A pass of a BERT in torch, float32.

Usage: bert.py FOLDER. Reads the weights that bench/bert-peer.ts wrote to the folder. For each line {"ids": [..], "length":
T, "threads": n} of the input, threads null for torch's own number, it runs texts of T pieces once, writes the vectors of
the pieces to vectors.f32 and prints {"milliseconds": ..}. A line of a shape that is new has an untimed pass before it.
"""

import json
import pathlib
import sys
import time

import numpy as np
import torch
from torch.nn.functional import embedding, gelu, layer_norm, linear, scaled_dot_product_attention


def run(weights, sizes, ids):
    batch, length = ids.shape
    width, heads = sizes["hidden_size"], sizes["num_attention_heads"]
    of = lambda name: (weights[f"{name}.weight"], weights[f"{name}.bias"])
    normalise = lambda x, name: layer_norm(x, (width,), *of(name), sizes["layer_norm_eps"])
    by_head = lambda x: x.reshape(batch, length, heads, -1).transpose(1, 2)
    table = lambda name: weights[f"embeddings.{name}_embeddings.weight"]
    x = embedding(ids, table("word")) + table("position")[:length] + table("token_type")[0]
    x = normalise(x, "embeddings.LayerNorm")
    for layer in range(sizes["num_hidden_layers"]):
        at = f"encoder.layer.{layer}"
        parts = linear(x, weights[f"{at}.qkv.weight"], weights[f"{at}.qkv.bias"]).chunk(3, -1)
        mixed = scaled_dot_product_attention(*map(by_head, parts)).transpose(1, 2).reshape(batch, length, width)
        x = normalise(x + linear(mixed, *of(f"{at}.attention.output.dense")), f"{at}.attention.output.LayerNorm")
        inner = gelu(linear(x, *of(f"{at}.intermediate.dense")))
        x = normalise(x + linear(inner, *of(f"{at}.output.dense")), f"{at}.output.LayerNorm")
    return x


@torch.inference_mode()
def main(folder):
    settings = json.loads((folder / "settings.json").read_text())
    own, sizes = torch.get_num_threads(), settings["sizes"]
    weights = {
        name: torch.from_numpy(np.fromfile(folder / f"{i}.f32", dtype="<f4").reshape(shape))
        for i, (name, shape) in enumerate(settings["shapes"])
    }
    for layer in range(sizes["num_hidden_layers"]):  # one product instead of three, as ours
        at = f"encoder.layer.{layer}"
        for kind in ("weight", "bias"):
            parts = [weights[f"{at}.attention.self.{part}.{kind}"] for part in ("query", "key", "value")]
            weights[f"{at}.qkv.{kind}"] = torch.cat(parts)
    seen = set()
    for line in sys.stdin:
        asked = json.loads(line)
        threads, ids = asked["threads"] or own, torch.tensor(asked["ids"]).reshape(-1, asked["length"])
        torch.set_num_threads(threads)
        if (threads, ids.shape) not in seen:
            run(weights, sizes, ids)
            seen.add((threads, ids.shape))
        start = time.perf_counter()
        vectors = run(weights, sizes, ids)
        milliseconds = 1000 * (time.perf_counter() - start)
        vectors.numpy().tofile(folder / "vectors.f32")
        print(json.dumps({"milliseconds": milliseconds}), flush=True)


main(pathlib.Path(sys.argv[1]))
