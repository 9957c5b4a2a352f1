"""Reads and evaluates the run and the judgements of bench/peers/works/trec.ts with pytrec_eval.

Usage: trec.py FOLDER PEER.
"""

import pathlib
import sys

import pytrec_eval
from serve import serve

METRICS = {"ndcg_cut.10", "recall.10", "recip_rank", "map", "P.10"}
NAMES = ["ndcg_cut_10", "recall_10", "recip_rank", "map", "P_10"]


def list_rows(table):
    """Query, document and value of each row, by query and document."""
    rows = ((int(query[1:]), int(id[4:]), value) for query, row in table.items() for id, value in row.items())
    return [number for row in sorted(rows) for number in row]


def list_values(values):
    return [values[f"q{number}"][name] for number in sorted(int(query[1:]) for query in values) for name in NAMES]


def main(folder):
    kept = {}

    def read(name, parse):
        kept.pop(name, None)
        with open(folder / f"{name}.trec") as lines:
            kept[name] = parse(lines)
        return lambda: list_rows(kept[name])

    def evaluate():
        values = pytrec_eval.RelevanceEvaluator(kept["qrels"], METRICS).evaluate(kept["run"])
        return lambda: list_values(values)

    serve(
        {
            "read-run": lambda: read("run", pytrec_eval.parse_run),
            "read-qrels": lambda: read("qrels", pytrec_eval.parse_qrel),
            "evaluate": evaluate,
        }
    )


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
