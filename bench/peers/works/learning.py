"""A linear mix of signals trained by listwise cross-entropy with Adam in torch, float32, on one thread.

Usage: learning.py FOLDER PEER. All queries are in a step; the signals and the grades' shares are those of
bench/peers/works/learning.ts.
"""

import json
import pathlib
import sys

import numpy as np
import torch
from serve import serve


def train(features, shares, epochs, learning_rate):
    weights = torch.zeros(features.shape[1], requires_grad=True)
    optimiser = torch.optim.Adam([weights], lr=learning_rate)
    losses = []
    for _ in range(epochs):
        optimiser.zero_grad()
        scores = (features @ weights).reshape(shares.shape)
        loss = (torch.logsumexp(scores, dim=1) - (shares * scores).sum(1)).mean()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return lambda: np.array([*losses, *weights.tolist()])


def main(folder):
    torch.set_num_threads(1)
    settings = json.loads((folder / "settings.json").read_text())
    read = lambda name, width: torch.from_numpy(np.fromfile(folder / name, dtype="<f4").reshape(-1, width))
    features = read("features.f32", settings["signals"])
    shares = read("shares.f32", settings["candidates"])
    serve({"train/listwise": lambda: train(features, shares, settings["epochs"], settings["learningRate"])})


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
