"""Scores the candidates of bench/peers/works/rerank.ts in torch, float32, on one thread, as bench/peers/rerank.py does.

Usage: rerank.py FOLDER PEER. Cosines are those of gathered rows or of a product with the corpus, by the faster of both.
"""

import importlib.util
import json
import pathlib
import sys

import torch
from serve import serve

# This file has the same name.
SPECIFICATION = importlib.util.spec_from_file_location("scores", pathlib.Path(__file__).parents[1] / "rerank.py")
scores = importlib.util.module_from_spec(SPECIFICATION)
SPECIFICATION.loader.exec_module(scores)

REPEATS = 5


def main(folder):
    torch.set_num_threads(1)
    settings = json.loads((folder / "settings.json").read_text())
    logit, weights = (settings["decay"], settings["temperature"]), torch.tensor(settings["weights"])
    corpus, tables, cases = scores.read_all(folder, settings)
    works = {}
    for case, batch in zip(cases, settings["batches"]):

        @torch.inference_mode()
        def whole(find_cosines, case=case):
            return scores.score_all(find_cosines, corpus, case, tables, weights, logit)["final"]

        best = min(scores.COSINES, key=lambda find_cosines: scores.milliseconds(lambda: whole(find_cosines), REPEATS)["fastest"])

        def work(whole=whole, best=best, repeats=settings["queries"] // batch):
            for _ in range(repeats):
                final = whole(best)
            return lambda: final.numpy().ravel()

        works[f"rerank/{batch}"] = work
    serve(works)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
