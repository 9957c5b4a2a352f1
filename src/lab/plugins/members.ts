import * as tf from '@tensorflow/tfjs-core';
import { z } from 'zod';
import { computeHash } from '../../core/hash/hash.ts';
import type { Lazy } from '../../core/validation/registry.ts';
import { check, parse } from '../../core/validation/validation.ts';
import type { MetricFamily } from '../../eval/metrics/judged-ranking.ts';
import { candidateCount, type IndexDefinition, type IndexReads } from '../../index/candidates/index-definition.ts';
import { assertAdmissible, assertQueries } from '../../index/candidates/query-batch.ts';
import type { EncoderDefinition } from '../../index/encoders/encoder-definition.ts';
import type { Candidates, QueryBatch } from '../../model/candidates.ts';
import type { Dataset } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { attributesSchema } from '../../model/turns/memory-fields.ts';
import type { FusionDefinition } from '../../ops/fusion/score-columns.ts';
import { defineKey, type StepKey } from '../../rank/retrieval/steps/keys.ts';
import type { ScoreParts } from '../../rank/retrieval/steps/score-parts.ts';
import { type KeepCandidates, keepCandidates } from '../../rank/retrieval/steps/select.ts';
import { defineScoreStep, defineStep, type StepOf } from '../../rank/retrieval/steps/step.ts';
import { type AddedSignal, defineSignal, type Signal, type SignalOf, type World } from '../../rank/signals/signal.ts';
import type { CandidatePool, Column } from '../../rank/signals/stage.ts';
import { WORLD_PARTS, type WorldPart } from '../../rank/signals/worlds/world-parts.ts';
import {
  createGuard,
  describe,
  type Guard,
  type PluginDataset,
  type PluginEncoder,
  type PluginFusion,
  type PluginIndex,
  type PluginMetric,
  type PluginScores,
  type PluginSignal,
  type PluginStep,
} from './plugin.ts';

const turn = z.looseObject({
  id: z.string().min(1),
  conversationId: z.string().min(1),
  timestamp: z.number(),
  text: z.string(),
  attributes: attributesSchema.optional(),
});

const query = z.looseObject({
  id: z.string().min(1),
  text: z.string(),
  timestamp: z.number(),
  cluster: z.string(),
  split: z.enum(['dev', 'test']),
  attributes: attributesSchema.optional(),
});

/** The parts of a dataset that the program reads, of which a plugin in JavaScript may leave out parts. */
const shape = z.looseObject({
  declaration: z.looseObject({ task: z.string(), features: z.array(z.string()), licence: z.string() }),
  corpus: z.looseObject({ turns: z.array(turn) }),
  queries: z.array(query),
  qrels: z.map(z.string(), z.map(z.string(), z.number())),
  relevantGrade: z.number().positive(),
  gradeNames: z.record(z.string(), z.string()),
  devConversations: z.set(z.string()),
  facts: z.record(z.string(), z.number()),
});

/** Describes what is wrong with the dataset of a plugin; null for nothing. */
function findDatasetFault(dataset: Dataset): string | null {
  const result = check(shape, dataset);
  if ('faults' in result) {
    const [{ path, expected, got }] = result.faults as [(typeof result.faults)[0]];
    return `${path}: expected ${expected}, got ${got}`;
  }
  const turns = new Set(dataset.corpus.turns.map(({ id }) => id));
  const queries = new Set(dataset.queries.map(({ id }) => id));
  if (queries.size < dataset.queries.length)
    return `queries: expected ids that differ, got ${dataset.queries.length} queries of ${queries.size} ids`;
  for (const [id, grades] of dataset.qrels)
    for (const turnId of grades.keys())
      if (!turns.has(turnId)) return `qrels: expected turns of the corpus, got ${turnId} for ${id}`;
  return null;
}

/** Name, version and hash of a plugin. */
export interface PluginIdentity {
  readonly name: string;
  readonly version: string;
  /** Of the code that its module reaches, or of its functions' text. */
  readonly hash: string;
}

/** `my-signals 1` */
export function formatPlugin({ name, version }: PluginIdentity): string {
  return `${name} ${version}`;
}

/** The part of every key. */
function formatIdentity({ name, version, hash }: PluginIdentity): string {
  return `${name} ${version} ${hash}`;
}

/** What a score of one pair can read: the corpus, which no null control disturbs. */
const PAIR_PARTS: readonly WorldPart[] = ['texts', 'times', 'clock', 'replies'];

function namePair({ queries, corpus }: World, pool: CandidatePool, pair: number): string {
  const query = queries[Math.floor(pair / pool.width)]?.id;
  return `query ${query}, turn ${corpus.turns[pool.positions[pair] as number]?.id ?? 'none'}`;
}

/** Scores every pair of a pool by itself. */
function scorePairs(signal: PluginScores, guard: Guard, { world, pool }: Work, options: object): Column {
  const { corpus, queries, batch } = world;
  const column = new Float32Array(pool.positions.length);
  for (const [at, position] of pool.positions.entries()) {
    if (position < 0) continue;
    const q = Math.floor(at / pool.width);
    const [query, turn, cutoff] = [queries[q], corpus.turns[position], batch.cutoffs[q]];
    if (query === undefined || turn === undefined || cutoff === undefined) continue;
    const score = guard.run(() => signal.score?.({ query, turn, position, cutoff, corpus }, { ...options }));
    if (typeof score !== 'number' || !Number.isFinite(score))
      guard.fail(`returned ${describe(score)} for ${namePair(world, pool, at)}; return a finite number`);
    column[at] = score as number;
  }
  return column;
}

interface Work {
  readonly world: World;
  readonly pool: CandidatePool;
}

async function computeColumn(signal: PluginScores, guard: Guard, work: Work, options: object): Promise<Column> {
  const { world, pool } = work;
  if (signal.score !== undefined) return scorePairs(signal, guard, work, options);
  const column = await guard.runAsync(() => signal.compute?.(work, { ...options }));
  guard.assertNumbers(column, pool.positions.length, (pair) => namePair(world, pool, pair));
  const result = Float32Array.from(column as Float32Array);
  for (const [pair, position] of pool.positions.entries())
    if (position < 0 && result[pair] !== 0)
      guard.fail(`returned ${result[pair]} where the pool is padded: place ${pair}; return 0 there`);
  return result;
}

/** @param kind of its name, in the key of its results. */
function adaptScores(scores: PluginScores, kind: string, guard: Guard, plugin: PluginIdentity): SignalOf<object> {
  const { name, summary, reads = scores.score === undefined ? WORLD_PARTS : PAIR_PARTS } = scores;
  return defineSignal<object>({
    name: `${kind}-${name.replace(/[^a-z0-9]+/g, '-')}`,
    summary,
    module: import.meta.url,
    reads,
    key: (options) => [options, name, formatIdentity(plugin)],
    compute: (work, options) => computeColumn(scores, guard, work, options),
  });
}

export function adaptSignal(signal: PluginSignal, plugin: PluginIdentity): AddedSignal {
  const { name, summary, indexes = [] } = signal;
  const guard = createGuard(formatPlugin(plugin), `signal ${name}`);
  const schema = z.strictObject({ ...signal.options });
  const use = adaptScores(signal, 'plugin', guard, plugin);
  return {
    name,
    summary,
    options: schema,
    indexes,
    create: (given) => use(parse(schema, given, `the options of signal ${name}`)),
    assertNotNegative(column) {
      const low = column.find((score) => score < 0);
      if (low !== undefined)
        guard.fail(`returned a negative score that the arm uses as it is: ${low}; shift it, or fuse by pool-rrf`);
    },
  };
}

/** How a column of a plugin's step becomes a part of the scores. */
const CHANGES = {
  multiply: {
    change: (_: object, scores: tf.Tensor2D, column: tf.Tensor2D) => tf.mul<tf.Tensor2D>(scores, column),
    explain: (_: object, parts: ScoreParts, component: string) => parts.multiply(component),
  },
  add: {
    change: (_: object, scores: tf.Tensor2D, column: tf.Tensor2D) => tf.add<tf.Tensor2D>(scores, column),
    explain: (_: object, parts: ScoreParts, component: string) => parts.add(component),
  },
};

/** A step that multiplies scores by a column, or adds it to them. Later steps ask for scores that are not negative. */
function adaptScoreStep(step: PluginStep, guard: Guard, plugin: PluginIdentity): StepOf<object> {
  const use = adaptScores(step, 'step', guard, plugin);
  const signal = (options: object): Signal => {
    const own = use(options);
    const compute: Signal['compute'] = async (...work) => {
      const column = await own.compute(...work);
      const low = column.find((value) => value < 0);
      if (low !== undefined) guard.fail(`returned a negative number: ${low}; return numbers from 0 up`);
      return column;
    };
    return { ...own, compute };
  };
  return defineScoreStep<object>({
    name: step.name,
    summary: step.summary,
    signal,
    ...CHANGES[step.change ?? 'multiply'],
  });
}

/** A step that leaves candidates out. */
function adaptKeepStep({ name, summary, keep, reads = PAIR_PARTS }: PluginStep, guard: Guard): StepOf<object> {
  const keepChecked =
    (options: object): KeepCandidates =>
    (ranked) => {
      const kept: unknown = guard.run(() => keep?.(ranked, { ...options }));
      if (!Array.isArray(kept) || kept.length !== ranked.length || !kept.every((stays) => typeof stays === 'boolean'))
        guard.fail(
          `returned ${describe(kept)} for query ${ranked[0]?.query.id}; return true or false for each of its ${ranked.length} candidates`,
        );
      return kept as boolean[];
    };
  return defineStep<object>({
    name,
    summary,
    takes: ['scores', 'ranking'],
    gives: 'ranking',
    apply: (options, state, _, watch, component) => keepCandidates(keepChecked(options), state, watch, component),
    needs: (_, __, find) => {
      const needs = find({ name, reads });
      const remedy = `leave the step ${name} out, or declare reads in its plugin`;
      return needs === null ? [] : [{ needs, part: `step ${name}`, remedy }];
    },
  });
}

export function adaptStep(step: PluginStep, plugin: PluginIdentity): StepKey {
  const guard = createGuard(formatPlugin(plugin), `step ${step.name}`);
  const created = step.keep === undefined ? adaptScoreStep(step, guard, plugin) : adaptKeepStep(step, guard);
  return defineKey(step.name, z.strictObject({ ...step.options }), created, (options, _, name) => [
    created(options, name),
  ]);
}

export function adaptMetric(
  { compute, cutoff = 'optional', ...metric }: PluginMetric,
  plugin: PluginIdentity,
): MetricFamily {
  const guard = createGuard(formatPlugin(plugin), `metric ${metric.name}`);
  return {
    ...metric,
    cutoff,
    aggregate: 'mean',
    define: (within) => `${metric.description}${within}, by plugin ${formatPlugin(plugin)}.`,
    compute(ranking, k) {
      const value = guard.run(() => compute(ranking, k));
      if (typeof value !== 'number' || !Number.isFinite(value))
        guard.fail(`returned ${describe(value)} for a ranking of ${ranking.grades.length}; return a finite number`);
      return value;
    },
  };
}

/** The schema of a member's options with its name as a literal. */
function nameOptions<Key extends string>(
  key: Key,
  { name, options }: { readonly name: string; readonly options?: object },
) {
  return z.strictObject({ ...options, [key]: z.literal(name) } as Record<Key, z.ZodLiteral<string>>);
}

const withoutKey = (key: string, options: object) =>
  Object.fromEntries(Object.entries(options).filter(([name]) => name !== key)); // the literal is no option

function assertUnitRows(guard: Guard, vectors: Float32Array, dimension: number): void {
  for (let row = 0; row * dimension < vectors.length; row++) {
    const numbers = vectors.subarray(row * dimension, (row + 1) * dimension);
    const length = Math.sqrt(numbers.reduce((sum, value) => sum + value * value, 0));
    if (length !== 0 && Math.abs(length - 1) > 1e-3)
      guard.fail(`returned a vector of length ${length} for text ${row}; return length 1, or all 0`);
  }
}

export function adaptEncoder(member: PluginEncoder, plugin: PluginIdentity) {
  const { name, description } = member;
  const guard = createGuard(formatPlugin(plugin), `encoder ${name}`);
  const options = nameOptions('encoder', member);
  const definition: EncoderDefinition<typeof options> = {
    options,
    description,
    identity: (given, { fitTexts, seed }) => ({
      ...given,
      plugin: formatIdentity(plugin),
      fittedOn: computeHash(fitTexts),
      seed,
    }),
  };
  const create = async (given: object, inputs: Parameters<PluginEncoder['create']>[1]) => {
    const made = await guard.runAsync(() => member.create(withoutKey('encoder', given), inputs));
    const dimension = made?.dimension;
    if (!Number.isInteger(dimension) || dimension < 1)
      guard.fail(`has no dimension: ${describe(dimension)}; return a whole number from 1`);
    return {
      name,
      dimension,
      identity: definition.identity(given as z.output<typeof options>, inputs),
      async encode(texts: readonly string[]) {
        const vectors = await guard.runAsync(() => made.encode(texts));
        guard.assertNumbers(vectors, texts.length * dimension, (at) => `text ${Math.floor(at / dimension)}`);
        const rows = Float32Array.from(vectors);
        assertUnitRows(guard, rows, dimension);
        return rows;
      },
      dispose: () => guard.run(() => made.dispose?.()),
    };
  };
  return { ...definition, load: async () => create };
}

/** @throws PluginError for candidates of another shape, for a turn that its query may not see, and for a turn found twice. */
function assertCandidates(guard: Guard, found: Candidates, queries: QueryBatch, k: number, corpus: Corpus): void {
  const { cutoffs } = queries;
  const slots = cutoffs.length * k;
  if (found?.width !== k) guard.fail(`returned rows of ${describe(found?.width)} places: expected ${k}; pad with -1`);
  if (!(found.positions instanceof Int32Array) || found.positions.length !== slots)
    guard.fail(`returned ${found.positions?.length} positions: expected an Int32Array of ${slots}; pad with -1`);
  guard.assertNumbers(found.scores, slots, (at) => `query ${Math.floor(at / k)}, candidate ${at % k}`);
  guard.run(() => assertAdmissible(found, queries, corpus));
  for (const query of cutoffs.keys()) {
    const row = [...found.positions.subarray(query * k, (query + 1) * k)].filter((position) => position >= 0);
    if (new Set(row).size < row.length) guard.fail(`returned a turn twice for query ${query}; return each turn once`);
  }
}

export function adaptIndex(member: PluginIndex, plugin: PluginIdentity) {
  const { name, description } = member;
  const reads: IndexReads = member.reads ?? ['texts', 'vectors', 'times'];
  const guard = createGuard(formatPlugin(plugin), `index ${name}`);
  const options = nameOptions('index', member).extend({ k: candidateCount });
  const definition: IndexDefinition<typeof options> = { options, description, reads, version: formatIdentity(plugin) };
  const create = (given: object, context: Parameters<PluginIndex['create']>[1]) => {
    const made = guard.run(() => member.create(withoutKey('index', given), context));
    return {
      name,
      async search(queries: QueryBatch, k: number) {
        assertQueries(queries, context.corpus.size, k); // what is wrong with the queries is no fault of the plugin
        const found = await guard.runAsync(() => made.search(queries, k));
        assertCandidates(guard, found, queries, k, context.corpus);
        return found;
      },
      dispose: () => guard.run(() => made.dispose?.()),
    };
  };
  return { ...definition, load: async () => create } as Lazy<typeof definition, typeof create>;
}

/** The identity of a dataset's content, whatever the plugin says of it. */
function hashContent({ corpus, queries, qrels, relevantGrade }: Dataset): string {
  const judgements = [...qrels].map(([query, grades]) => [query, [...grades]]);
  return computeHash({ turns: corpus.turns, queries, judgements, relevantGrade });
}

export function adaptDataset(member: PluginDataset, plugin: PluginIdentity) {
  const { name, description, licence = 'not stated', source = `plugin ${formatPlugin(plugin)}` } = member;
  const guard = createGuard(formatPlugin(plugin), `dataset ${name}`);
  const load = async (given: object, context: Parameters<PluginDataset['load']>[1]): Promise<Dataset> => {
    const dataset = await guard.runAsync(() => member.load(withoutKey('name', given), context));
    const turns = dataset?.corpus?.turns;
    if (!Array.isArray(turns) || !Array.isArray(dataset.queries) || !(dataset.qrels instanceof Map))
      guard.fail(`returned no dataset: ${describe(dataset)}; return what fromTurns makes`);
    const fault = guard.run(() => findDatasetFault(dataset));
    if (fault !== null) guard.fail(`returned a dataset with a fault: ${fault}; return what fromTurns makes`);
    // A module may have another copy of the package, whose classes are not ours.
    const corpus = dataset.corpus instanceof Corpus ? dataset.corpus : guard.run(() => new Corpus(turns));
    return { ...dataset, corpus, name, hash: hashContent(dataset) };
  };
  return { options: nameOptions('name', member), description, licence, source, load: async () => load };
}

export function adaptFusion(member: PluginFusion, plugin: PluginIdentity): FusionDefinition {
  const { name, description } = member;
  const guard = createGuard(formatPlugin(plugin), `fusion ${name}`);
  return {
    options: nameOptions('method', member),
    description,
    fusesPool: true,
    fuse(columns, given) {
      const fused = guard.run(() => member.fuse(columns, withoutKey('method', given)));
      const length = Object.values(columns)[0]?.length ?? 0;
      guard.assertNumbers(fused, length, (at) => `candidate ${at}`);
      return Float64Array.from(fused);
    },
  };
}
