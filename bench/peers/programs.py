"""Three retrievers, fused, tested, table out: by this project, ranx, PyTerrier, and ir_measures with scipy.

Usage: programs.py QRELS RUN RUN RUN, run files of TREC whose names end in .trec, in a Python with requirements.txt. PyTerrier
needs Java; without it, or without its packages, a line states that it was not run. Every program reads the same four
files. Compares with this project: each fused score, each metric of each query of each system, each mean, and each p of a
paired t test against the first run. Prints a line for each program and kind of value: the values, the greatest
difference, and the number beyond 1e-6. Exit code 1 if a mean or a p of the three given runs differs.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import ir_measures
import numpy as np
import ranx
import scipy.stats

ROOT = pathlib.Path(__file__).parents[2]
METRICS = {"ndcg@10": ir_measures.nDCG @ 10, "recall@10": ir_measures.R @ 10, "mrr@10": ir_measures.RR @ 10}
TOLERANCE = 1e-6
FUSED = "fused"
K = 60


def group_run(rows):
    run = {}
    for query, doc, score in rows:
        run.setdefault(query, {})[doc] = score
    return run


def ragpp(*words):
    subprocess.run(["npx", "tsx", "src/cli/main.ts", *map(str, words)], cwd=ROOT, check=True, capture_output=True)


def measure_here(qrels, runs):
    """Two commands."""
    with tempfile.TemporaryDirectory() as folder:
        fused = pathlib.Path(folder, f"{FUSED}.trec")
        ragpp("fuse", *runs, "--method", "rrf", "--out", fused)
        named = [f"{path.stem}={path}" for path in (*runs, fused)]
        ragpp("score", qrels, *named, "--test", "t", "--correction", "holm", "--results", folder)
        [results] = pathlib.Path(folder).glob("score-*")
        rows = [json.loads(line) for line in (results / "per-query.jsonl").open()]
        arms = json.loads((results / "metrics.json").read_text())["arms"]
        values = {(r["arm"], m, r["query"]): r[m] for r in rows for m in METRICS}
        means = {(arm["name"], m): arm["metrics"][m]["mean"] for arm in arms for m in METRICS}
        tests = {(arm["name"], m): arm["comparisons"][m]["p"] for arm in arms[1:] for m in METRICS}
        return group_run(ir_measures.read_trec_run(str(fused))), values, means, tests


def measure_ranx(qrels, runs):
    judged = ranx.Qrels.from_file(str(qrels), kind="trec")
    read = [ranx.Run.from_file(str(path), kind="trec", name=path.stem) for path in runs]
    read = [run.make_comparable(judged) for run in read]  # fuse refuses runs of different queries
    fused = ranx.fuse(read, norm=None, method="rrf", params={"k": K})
    fused.name = FUSED
    report = ranx.compare(judged, [*read, fused], list(METRICS), max_p=0.05, stat_test="student", make_comparable=True)
    systems = [*(run.name for run in read), FUSED]
    values = {
        (run.name, metric, query): value
        for run in (*read, fused)
        for metric in METRICS
        for query, value in run.scores[metric].items()
    }
    means = {(s, m): report.results[s][m] for s in systems for m in METRICS}
    tests = {(s, m): report.comparisons[systems[0], s][m]["p_value"] for s in systems[1:] for m in METRICS}
    return fused.to_dict(), values, means, tests


def measure_pyterrier(qrels, runs):
    import pyterrier as pt
    from pyterrier_alpha.fusion import RRFusion

    judged = pt.io.read_qrels(str(qrels))
    frames = [pt.io.read_results(str(path)) for path in runs]
    retrievers = [pt.Transformer.from_df(frame) for frame in frames]
    topics = judged[["qid"]].drop_duplicates().assign(query="")
    fusion = RRFusion(*retrievers, k=K + 1, num_results=10000)  # its ranks start at 0
    systems = [*(path.stem for path in runs), FUSED]
    table = pt.Experiment(
        [*retrievers, fusion], topics, judged, list(METRICS.values()), names=systems, baseline=0, test="t"
    )
    rows = pt.Experiment(
        [*retrievers, fusion], topics, judged, list(METRICS.values()), names=systems, perquery=True
    )
    names = {str(measure): name for name, measure in METRICS.items()}
    values = {(r["name"], names[str(r["measure"])], r["qid"]): r["value"] for r in rows.to_dict("records")}
    table = table.set_index("name")
    means = {(s, m): table.loc[s, str(METRICS[m])] for s in systems for m in METRICS}
    tests = {(s, m): table.loc[s, f"{METRICS[m]} p-value"] for s in systems[1:] for m in METRICS}
    return group_run(fusion(topics)[["qid", "docno", "score"]].itertuples(index=False)), values, means, tests


def measure_ir_measures(qrels, runs):
    judged = list(ir_measures.read_trec_qrels(str(qrels)))
    read = {path.stem: group_run(ir_measures.read_trec_run(str(path))) for path in runs}
    fused = {}
    for run in read.values():
        for query, docs in run.items():
            ranked = sorted(docs, key=lambda doc: (docs[doc], doc), reverse=True)  # as trec_eval orders
            for rank, doc in enumerate(ranked, 1):
                scores = fused.setdefault(query, {})
                scores[doc] = scores.get(doc, 0) + 1 / (K + rank)
    read[FUSED] = fused
    values, means, tests = {}, {}, {}
    names = {str(measure): name for name, measure in METRICS.items()}
    for system, run in read.items():
        for row in ir_measures.iter_calc(list(METRICS.values()), judged, run):
            values[system, names[str(row.measure)], row.query_id] = row.value
    queries = sorted({row.query_id for row in judged})
    columns = {(s, m): np.array([values.get((s, m, q), 0) for q in queries]) for s in read for m in METRICS}
    baseline = runs[0].stem
    for (system, metric), column in columns.items():
        means[system, metric] = column.mean()
        if system != baseline:
            tests[system, metric] = scipy.stats.ttest_rel(column, columns[baseline, metric]).pvalue
    return fused, values, means, tests


def compare(program, kind, ours, theirs):
    """Values that only one side has count as 0: a query without a ranking."""
    keys = ours.keys() | theirs.keys()
    differences = {key: abs(ours.get(key, 0) - theirs.get(key, 0)) for key in keys}
    beyond = sorted((key for key in keys if differences[key] > TOLERANCE), key=str)
    print(f"{program:12} {kind:14} {len(keys):7} values, greatest difference {max(differences.values()):.1e}, beyond 1e-6: {len(beyond)}")
    for key in beyond[:3]:
        print(f"    {' '.join(map(str, key))}: {ours.get(key)} here, {theirs.get(key)} there")
    return beyond


def main(qrels, *runs):
    paths = [pathlib.Path(run).resolve() for run in runs]
    judgements = pathlib.Path(qrels).resolve()
    fused, values, means, tests = measure_here(judgements, paths)
    failed = False
    for program, measure in (("ranx", measure_ranx), ("PyTerrier", measure_pyterrier), ("ir_measures", measure_ir_measures)):
        try:
            their_fused, *theirs = measure(judgements, paths)
        except (ImportError, RuntimeError, OSError) as error:
            if program != "PyTerrier":
                raise
            print(f"PyTerrier was not run: {error}; install requirements.txt and Java (apt-get install default-jre-headless)")
            continue
        flat = lambda run: {(q, d): s for q, docs in run.items() for d, s in docs.items()}
        compare(program, "fused scores", flat(fused), flat(their_fused))
        for kind, mine, other in zip(("query values", "means", "p"), (values, means, tests), theirs):
            for part, keep in (("given", lambda key: key[0] != FUSED), ("fused", lambda key: key[0] == FUSED)):
                only = lambda table: {key: value for key, value in table.items() if keep(key)}
                beyond = compare(program, f"{kind}, {part}", only(mine), only(other))
                failed = failed or (bool(beyond) and part == "given" and kind != "query values")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit("expected QRELS RUN RUN RUN; give four files")
    sys.exit(main(*sys.argv[1:]))
