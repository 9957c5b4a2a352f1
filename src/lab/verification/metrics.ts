import { z } from 'zod';
import { parse } from '../../core/validation/validation.ts';
import { evaluate, summarise } from '../../eval/metrics/evaluate.ts';
import { parseQrels, parseRun } from '../../eval/trec/trec-files.ts';
import { type GoldenCase, type Part, PRINTED, type Topic } from './topic.ts';

const valuesByName = z.record(z.string(), z.number());

const metricsCase = z.looseObject({
  /** Query, document, grade. */
  qrels: z.array(z.tuple([z.string(), z.string(), z.number()])),
  /** Query, document, score. */
  run: z.array(z.tuple([z.string(), z.string(), z.number()])),
  relevantGrade: z.number().default(1),
  /** By query id and for `all` of them, by trec_eval's name of the metric. */
  expected: z.looseObject({ all: valuesByName }).catchall(valuesByName),
});

/** trec_eval's names, without the cutoff, if they differ from ours. */
const OUR_NAMES: Readonly<Record<string, string>> = {
  recip_rank: 'mrr',
  P: 'p',
  Rprec: 'rprec',
  map_cut: 'map',
  ndcg_cut: 'ndcg',
};

/** `ndcg_cut_10` -> `ndcg@10` */
function translateMetricId(trecName: string): string {
  const [, name, cutoff] = /^(.*?)(?:_(\d+))?$/.exec(trecName) as unknown as [string, string, string | undefined];
  const ours = OUR_NAMES[name] ?? name;
  return cutoff === undefined ? ours : `${ours}@${cutoff}`;
}

export const metrics: Topic = {
  name: 'metrics',
  compute(golden: GoldenCase): readonly Part[] {
    const { qrels, run, relevantGrade, expected } = parse(metricsCase, golden, golden.name);
    const runLines = run.map(([queryId, id, score]) => `${queryId} Q0 ${id} 0 ${score} golden`);
    const qrelsLines = qrels.map(([queryId, id, grade]) => `${queryId} 0 ${id} ${grade}`);
    const evaluation = evaluate(
      parseRun(runLines.join('\n'), `run of ${golden.name}`),
      parseQrels(qrelsLines.join('\n'), `qrels of ${golden.name}`),
      Object.keys(expected.all).map(translateMetricId),
      { relevantGrade, unanswerable: 'count', holeDepth: 10 },
    );
    const trecNames = Object.keys(expected.all);
    const listTrecValues = (lookUp: (id: string) => number | undefined) =>
      Object.fromEntries(trecNames.map((name) => [name, lookUp(translateMetricId(name))]));
    const rows = evaluation.queryIds.map((queryId, q) => [queryId, listTrecValues((id) => evaluation.values[id]?.[q])]);
    const summary = summarise(evaluation);
    const got = { ...Object.fromEntries(rows), all: listTrecValues((id) => summary[id]) };
    return [{ at: 'values', expected, got, tolerance: PRINTED }];
  },
};
