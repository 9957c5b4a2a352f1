import { join } from 'node:path';
import { z } from 'zod';
import { loadDataset } from '../../src/data/registry.ts';
import { type Estimate, groupIntoClusters, meanIntervals } from '../../src/eval/intervals/mean-intervals.ts';
import { evaluate } from '../../src/eval/metrics/evaluate.ts';
import { formatRun, readRun } from '../../src/eval/trec/trec-files.ts';
import { selectJudgements } from '../../src/lab/measure/measurement.ts';
import { createTokenCounter, describeTestSplit } from '../../src/lab/measure/passport.ts';
import { estimate, formatDecimal, formatSigned } from '../../src/lab/report/tables/format.ts';
import { readPerQuery } from '../../src/lab/stored/per-query-values.ts';
import { PACKING_NAMES } from '../../src/memory/context/packing.ts';
import type { Dataset } from '../../src/model/dataset.ts';
import type { Run } from '../../src/model/run.ts';
import type { Study } from '../study.ts';
import { formatPipeTable } from '../text-table.ts';
import { chooseNested } from './nested-choice.ts';
import { orderByDensity, orderByDrawnDensity, packRankings } from './packed-rankings.ts';

const settings = z.strictObject({
  seed: z.int().default(20260101),
  /** A file in the format of locomo10.json. */
  path: z.string().min(1).default('locomo10.json'),
  /** The folder of a finished training on its questions. */
  training: z.string().min(1),
  /** Whose rankings are packed: a file of the folder's `runs`, without its ending. */
  method: z.string().min(1).default('learned'),
  /** The folder of a run whose arms are chosen between; null for none. */
  run: z.string().min(1).nullable().default(null),
  budgets: z.array(z.int().min(1)).min(1).default([250, 500, 1000, 2000, 4000, 8000]),
  samples: z.int().min(100).default(10_000),
  level: z.number().gt(0).lt(1).default(0.95),
});
type Settings = z.output<typeof settings>;

/** Q queries, in the order of their judgements. */
interface Measured {
  readonly clusters: readonly string[];
  /** By packing and budget, [Q] each. */
  readonly evidence: ReadonlyMap<string, readonly (readonly number[])[]>;
}

/** The evidence that each packing of the same rankings puts into each budget. */
function measurePackings(dataset: Dataset, run: Run, { budgets, seed }: Settings): Measured {
  const { corpus, relevantGrade } = dataset;
  const queries = dataset.queries.filter(({ id }) => run.has(id));
  const { qrels } = selectJudgements(dataset, queries);
  const countTokens = createTokenCounter(corpus);
  const measure = (packed: Run, budget: number) => {
    const metric = `recall@${budget}t`;
    const options = { relevantGrade, unanswerable: 'apart', holeDepth: 1, countTokens } as const;
    const { values, queryIds } = evaluate(packed, qrels, [metric], options);
    return { values: values[metric] as readonly number[], queryIds };
  };
  const evidence = new Map<string, readonly (readonly number[])[]>();
  for (const packing of PACKING_NAMES)
    evidence.set(
      packing,
      budgets.map((budget) => measure(packRankings(run, packing, budget, countTokens), budget).values),
    );
  const drawn = orderByDrawnDensity(run, countTokens, seed);
  evidence.set(
    'in the order of a drawn density',
    budgets.map((budget) => measure(drawn, budget).values),
  );
  const clusterOf = new Map(queries.map(({ id, cluster }) => [id, cluster]));
  const clusters = measure(run, budgets[0] as number).queryIds.map((id) => clusterOf.get(id) as string);
  return { clusters, evidence };
}

type Estimator = (values: readonly number[]) => Estimate;

/** Every packing at every budget, its difference from `in-order`, and the packing that the other conversations choose. */
function describePackings({ clusters, evidence }: Measured, budgets: readonly number[], estimateMean: Estimator) {
  const [[, base]] = evidence as unknown as [[string, readonly (readonly number[])[]]];
  const nested = budgets.map((_, k) =>
    chooseNested(new Map(PACKING_NAMES.map((name) => [name, evidence.get(name)?.[k] as readonly number[]])), clusters),
  );
  const all = [...evidence, ['chosen on the other conversations', nested.map(({ values }) => values)] as const];
  return all.map(([packing, columns]) => ({
    packing,
    evidence: columns.map(estimateMean),
    difference: columns.map((values, k) =>
      estimateMean(values.map((value, query) => value - (base[k]?.[query] as number))),
    ),
  }));
}

/** The arm that the other conversations choose, by each metric of a run. */
function describeChoices(folder: string, estimateIn: (clusters: readonly string[]) => Estimator) {
  const { clusters, values } = readPerQuery(folder);
  const metrics = [...(values.values().next().value?.keys() ?? [])];
  return metrics.map((metric) => {
    const columns = new Map(Array.from(values, ([arm, byMetric]) => [arm, byMetric.get(metric) as readonly number[]]));
    const choice = chooseNested(columns, clusters);
    return { metric, chosen: choice.chosen, value: estimateIn(clusters)(choice.values) };
  });
}

const formatMean = (one: Estimate) => estimate(one, formatDecimal, 2);
const formatDifference = (one: Estimate) => estimate(one, formatSigned, 3);

/** What packing and choosing on other conversations are worth, in evidence within a budget of tokens. */
export const evidence: Study<typeof settings> = {
  name: 'evidence',
  description: 'packings of rankings by weights that have not seen the conversation, and arms chosen on the others',
  settings,
  measure: async (given, { cacheFolder, progress }) => {
    const { path, training, method, run: runFolder, budgets, seed, samples, level } = given;
    const options = { name: 'locomo', path } as const;
    const dataset = await loadDataset(options, { cacheFolder: join(cacheFolder, 'datasets'), progress });
    const run = readRun(join(training, 'runs', `${method}.trec`));
    const estimateIn = (clusters: readonly string[]) => {
      const groups = groupIntoClusters(clusters);
      return (values: readonly number[]) => meanIntervals([values], groups, { samples, level, seed })[0] as Estimate;
    };
    const measured = measurePackings(dataset, run, given);
    const packings = describePackings(measured, budgets, estimateIn(measured.clusters));
    const choices = runFolder === null ? [] : describeChoices(runFolder, estimateIn);
    const head = ['packing', ...budgets.map((budget) => `${budget} tokens`)];
    const tabulate = (columns: (row: (typeof packings)[number]) => readonly string[]) =>
      formatPipeTable({ head, rows: packings.map((row) => [row.packing, ...columns(row)]) });
    return {
      dataset: { name: dataset.name, hash: dataset.hash },
      tested: [
        describeTestSplit(
          dataset,
          dataset.queries.filter(({ id }) => run.has(id)),
        ),
      ],
      figures: { queries: measured.clusters.length, budgets, packings, choices },
      sections: [
        `Evidence of ${measured.clusters.length} questions within a budget, by the packing of the rankings of ${method}:`,
        tabulate((row) => row.evidence.map(formatMean)),
        'Differences from in-order:',
        tabulate((row) => row.difference.map(formatDifference)),
        ...(choices.length === 0
          ? []
          : [
              'The arm that is best on the other conversations, for each conversation:',
              formatPipeTable({
                head: ['metric', 'mean', ...Object.keys(choices[0]?.chosen ?? {})],
                rows: choices.map(({ metric, value, chosen }) => [metric, formatMean(value), ...Object.values(chosen)]),
              }),
            ]),
        `Brackets: ${100 * level} % intervals, clustered by conversation; not corrected over the budgets.`,
      ],
      files: { 'density.trec': formatRun(orderByDensity(run, createTokenCounter(dataset.corpus)), 'density') },
    };
  },
};
