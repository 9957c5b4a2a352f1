"""A linear mix of signals trained by listwise cross-entropy with Adam in torch, float32, all queries in a step.

Usage: learning.py FOLDER. Reads the standardised signals, the grades' shares and the settings that bench/learning-peer.ts
wrote to the folder, and prints the seconds of all epochs, the fastest of the repeats, and the losses before the first and
the last step as JSON.
"""

import json
import pathlib
import sys
import time

import numpy as np
import torch


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
    return losses


def main(folder):
    settings = json.loads((folder / "settings.json").read_text())
    read = lambda name, width: torch.from_numpy(np.fromfile(folder / name, dtype="<f4").reshape(-1, width))
    features = read("features.f32", settings["signals"])
    shares = read("shares.f32", settings["candidates"])
    times = []
    for _ in range(settings["repeats"]):
        start = time.perf_counter()
        losses = train(features, shares, settings["epochs"], settings["learningRate"])
        times.append(time.perf_counter() - start)
    print(json.dumps({"seconds": min(times), "firstLoss": losses[0], "lastLoss": losses[-1]}))


main(pathlib.Path(sys.argv[1]))
