"""Fuses the runs of bench/peers/works/fusion.ts with ranx.

Usage: fusion.py FOLDER PEER.
"""

import json
import pathlib
import sys

import ranx
from serve import serve

METHODS = {"combmnz": ("mnz", "min-max"), "rrf": ("rrf", None)}


def list_ranks(run, width):
    """Document and score of each rank of each query; -1 and 0 behind the last document."""
    rankings = run.to_dict()
    numbers = []
    for query in sorted(rankings, key=lambda query: int(query[1:])):
        row = [number for id, score in rankings[query].items() for number in (int(id[4:]), score)]
        numbers += row + [-1, 0] * (width - len(row) // 2)
    return numbers


def main(folder):
    works = json.loads((folder / "settings.json").read_text())["works"]
    runs = [ranx.Run.from_file(str(path), kind="trec") for path in sorted(folder.glob("*.trec"))]
    width = sum(len(next(iter(run.run.values()))) for run in runs)

    def fuse(method, norm):
        fused = ranx.fuse(runs, norm=norm, method=method)
        return lambda: list_ranks(fused, width)

    serve({work: lambda work=work: fuse(*METHODS[work]) for work in works})


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
