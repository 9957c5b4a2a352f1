"""Reads a run and judgements and evaluates the run, by pytrec_eval (trec_eval's code).

Usage: trec.py FOLDER, with run.trec and qrels.trec of bench/trec-workload.ts. For each line {"work": name} of the input it
does run, qrels or evaluate once and prints {"seconds": of the processor, "peakBytes": ..}. {"work": "values"} writes what it
read and found to values.json.
"""

import json
import pathlib
import resource
import sys
import time

import pytrec_eval

METRICS = {"ndcg_cut.10", "recall.10", "recip_rank", "map", "P.10"}


def read_peak():
    try:
        status = pathlib.Path("/proc/self/status").read_text()
        return 1024 * int(status.split("VmHWM:")[1].split()[0])
    except (OSError, IndexError):
        return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main(folder):
    kept = {}

    def read(name, parse):
        kept.pop(name, None)
        with open(folder / f"{name}.trec") as lines:
            kept[name] = parse(lines)

    def evaluate():
        kept["values"] = pytrec_eval.RelevanceEvaluator(kept["qrels"], METRICS).evaluate(kept["run"])

    works = {
        "run": lambda: read("run", pytrec_eval.parse_run),
        "qrels": lambda: read("qrels", pytrec_eval.parse_qrel),
        "evaluate": evaluate,
    }
    for line in sys.stdin:
        work = json.loads(line)["work"]
        start = time.process_time()
        if work == "values":
            (folder / "values.json").write_text(json.dumps(kept))
        else:
            works[work]()
        print(json.dumps({"seconds": time.process_time() - start, "peakBytes": read_peak()}), flush=True)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
