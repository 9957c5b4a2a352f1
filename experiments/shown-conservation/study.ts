import { z } from 'zod';
import { RagPlusPlusError } from '../../src/core/errors/errors.ts';
import { computeHash } from '../../src/core/hash/hash.ts';
import { activeBackend } from '../../src/core/tensors/active-backend.ts';
import type { Estimate } from '../../src/eval/intervals/mean-intervals.ts';
import { groupIntoClusters } from '../../src/eval/intervals/mean-intervals.ts';
import { encoderOptions } from '../../src/index/encoders/registry.ts';
import { resolveConfig } from '../../src/lab/config/config.ts';
import type { ArmResult } from '../../src/lab/measure/result.ts';
import { estimate, formatDecimal } from '../../src/lab/report/tables/format.ts';
import { type FinishedRun, runExperiment } from '../../src/lab/run/run.ts';
import type { Study, StudyContext } from '../study.ts';
import { formatPipeTable } from '../text-table.ts';
import { estimateArea } from './auc.ts';

const settings = z.strictObject({
  seed: z.int().default(20260101),
  /** A file in the format of locomo10.json; null leaves LoCoMo out. */
  locomo: z.string().min(1).nullable().default('locomo10.json'),
  /** The queries of mail, and the half of LoCoMo's questions. */
  split: z.enum(['dev', 'test']).default('dev'),
  /** The number of queries of each dataset, for a quick look; null for all. */
  limitQueries: z.int().min(2).nullable().default(null),
  mailEmbedding: encoderOptions.prefault({ encoder: 'lsa', dimension: 512, dropStopWords: true, stem: true }),
  locomoEmbedding: encoderOptions.prefault({ encoder: 'use-lite' }),
  /** First ranks, in which an answer is a hit. */
  k: z.int().min(2).default(10),
  samples: z.int().min(100).default(10_000),
  level: z.number().gt(0).lt(1).default(0.95),
});
type Settings = z.output<typeof settings>;

const words = { bm25: { k: 100, dropStopWords: true, stem: true } };
const vectors = { flat: { k: 100 } };
const halves = { convex: { flat: 0.5, bm25: 'rest' } };
/** No number of an arm is chosen on data. */
const ARMS = {
  bm25: [{ search: words }],
  cosine: [{ search: vectors }],
  hybrid: [{ search: { ...words, ...vectors } }, { fuse: halves }],
};
/** On mail the newest messages are also what is asked for. */
const MAIL_ARMS = {
  ...ARMS,
  'hybrid × 24 h': [...ARMS.hybrid, { decay: 24 }],
};

/** One dataset with its arms. */
interface Source {
  readonly name: string;
  readonly dataset: object;
  readonly embedding: object;
  readonly arms: object;
}

function listSources({ locomo, mailEmbedding, locomoEmbedding }: Settings): Source[] {
  const mail = { name: 'mail', dataset: { name: 'spamassassin-threads' }, embedding: mailEmbedding, arms: MAIL_ARMS };
  if (locomo === null) return [mail];
  const dataset = { name: 'locomo', path: locomo, splitQuestions: true };
  return [mail, { name: 'locomo', dataset, embedding: locomoEmbedding, arms: ARMS }];
}

/** @throws RagPlusPlusError if an arm fails. */
async function runSource({ name, dataset, embedding, arms }: Source, given: Settings, context: StudyContext) {
  const { seed, split, limitQueries, k } = given;
  const measured = { metrics: [`success@${k}`], conservation: { k }, inspect: k };
  const evaluation = { split, limitQueries, baseline: 'bm25', ...measured };
  const config = resolveConfig({ name, seed, dataset, embedding, evaluation, arms }, `the experiment ${name}`);
  const run = await runExperiment(config, { ...context, backend: activeBackend(), command: '' });
  const [failure] = run.result.failures;
  if (failure !== undefined)
    throw new RagPlusPlusError(failure.code, `arm ${failure.name} failed with: ${failure.message}`, { failure });
  return run;
}

/** A value of each query that may tell a hit from a miss. */
interface Predictor {
  readonly name: string;
  readonly read: (arm: ArmResult, query: number) => number;
}

/** a / b; 0 if b is 0. */
const divide = (a: number, b: number) => (b === 0 ? 0 : a / b);

/** To five digits: the rest of a float32 sum is rounding, and would tell equal values apart. */
const round = (value: number) => Number(value.toFixed(5));

function readFigure(
  arm: ArmResult,
  set: 'memory' | 'pool' | 'first',
  figure: 'coherence' | 'magnitude',
  query: number,
) {
  return arm.conservation?.perQuery[set]?.[figure][query] ?? Number.NaN;
}

const PREDICTORS: readonly Predictor[] = [
  { name: 'coherence of the first', read: (arm, query) => readFigure(arm, 'first', 'coherence', query) },
  {
    name: 'coherence of the first / memory',
    read: (arm, query) =>
      divide(readFigure(arm, 'first', 'coherence', query), readFigure(arm, 'memory', 'coherence', query)),
  },
  { name: 'coherence of the pool', read: (arm, query) => readFigure(arm, 'pool', 'coherence', query) },
  {
    name: 'magnitude of the first',
    read: (arm, query) => readFigure(arm, 'first', 'magnitude', query),
  },
  { name: 'score of the first turn', read: (arm, query) => arm.rankings[query]?.[0]?.score ?? 0 },
];

/** The area of a predictor, and its means over hits and misses. */
interface Predicted {
  readonly predictor: string;
  /** The chance that a hit has a higher value than a miss; .5 predicts nothing. */
  readonly area: Estimate;
  readonly hitMean: number;
  readonly missMean: number;
  /** Different values. */
  readonly distinct: number;
}

const computeMean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** @param shown the places of the queries, in the order of `hits` and `clusters`. */
function predictHits(
  arm: ArmResult,
  shown: readonly number[],
  hits: readonly boolean[],
  clusters: readonly string[],
  given: Settings,
): Predicted[] {
  return PREDICTORS.map(({ name, read }) => {
    const values = shown.map((query) => round(read(arm, query)));
    return {
      predictor: name,
      area: estimateArea({ values, hits }, groupIntoClusters(clusters), given),
      hitMean: computeMean(values.filter((_, i) => hits[i])),
      missMean: computeMean(values.filter((_, i) => !hits[i])),
      distinct: new Set(values).size,
    };
  });
}

/** Every arm of a finished run, over the queries with k turns: fewer turns are more coherent by their number alone. */
function describeRun(source: string, { result: { arms, queries } }: FinishedRun, given: Settings) {
  const { k } = given;
  return arms.map((arm) => {
    const shown = [...queries.keys()].filter((query) => arm.conservation?.perQuery.first?.turns[query] === k);
    const hits = shown.map((query) => arm.perQuery[`success@${k}`]?.[query] === 1);
    const clusters = shown.map((query) => queries[query]?.cluster as string);
    return {
      ...{ source, arm: arm.name, queries: shown.length, fewer: queries.length - shown.length },
      conversations: new Set(clusters).size,
      misses: hits.filter((hit) => !hit).length,
      predicted: predictHits(arm, shown, hits, clusters, given),
    };
  });
}

/** Tells whether the conservation of the first turns distinguishes hits from misses. */
export const shownConservation: Study<typeof settings> = {
  name: 'shown-conservation',
  description: 'whether low coherence or lost magnitude of the first ten turns predicts that none of them is relevant',
  settings,
  measure: async (given, context) => {
    const runs: (readonly [string, FinishedRun])[] = [];
    for (const source of listSources(given)) runs.push([source.name, await runSource(source, given, context)]);
    const rows = runs.flatMap(([name, run]) => describeRun(name, run, given));
    const { k, level, split } = given;
    return {
      dataset: {
        name: runs.map(([, { result }]) => `${result.dataset.name} ${split}`).join(', '),
        hash: computeHash(runs.map(([, { result }]) => result.dataset.hash)),
      },
      tested: runs.map(([, { look }]) => look ?? null),
      figures: { rows },
      sections: [
        `The chance that a query with a relevant turn among the first ${k} has a higher value than one without; .5 predicts nothing, more means that a low value predicts a miss. Queries with fewer than ${k} turns are left out. ${Number((100 * level).toFixed(3))} % intervals by conversation, not corrected for their number.`,
        formatPipeTable({
          head: ['data, arm', 'misses', 'queries', ...PREDICTORS.map(({ name }) => name)],
          rows: rows.map(({ source, arm, misses, queries, predicted }) => [
            `${source}, ${arm}`,
            String(misses),
            String(queries),
            ...predicted.map(({ area }) => estimate(area, formatDecimal, 2)),
          ]),
        }),
      ],
    };
  },
};
