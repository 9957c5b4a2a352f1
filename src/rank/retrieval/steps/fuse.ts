import { z } from 'zod';
import { ConfigurationError } from '../../../core/errors/errors.ts';
import { check, createOpenSchema, parsePart } from '../../../core/validation/validation.ts';
import type { Candidates } from '../../../model/candidates.ts';
import { compareBytes } from '../../../model/turns/tie-rule.ts';
import { combSumOptions } from '../../../ops/fusion/combination.ts';
import { computeListReach, type ListLengths } from '../../../ops/fusion/reach.ts';
import { reciprocalRankOptions } from '../../../ops/fusion/reciprocal-rank.ts';
import { FUSIONS, type FusionOptions, fuseColumns, type fusionOptions } from '../../../ops/fusion/registry.ts';
import { markHeld, type ScoreColumns } from '../../../ops/fusion/score-columns.ts';
import type { Signal, World } from '../../signals/signal.ts';
import type { Column, PoolRows } from '../../signals/stage.ts';
import { type AddFault, addUnknownKey, withoutNulls } from './search.ts';
import { defineStep, type Outline, PendingScores, requirePool, type ScoreColumn, type Step } from './step.ts';

/**
 * The schema of a fusion of several signals. `convex`, `weighted`, the methods of plugins and the two that begin with
 * `pool` fuse scores of the whole pool: every signal scores and ranks each candidate, whichever source found it;
 * `graph` alone scores what its own source found. All others fuse the lists that the signals' sources found, as
 * {@link fuseLists} does with run files: a candidate gets nothing from a list that lacks it.
 */
const relevanceFusionOptions = createOpenSchema(
  () =>
    z.discriminatedUnion('method', [
      ...(FUSIONS.members.map(({ options }) => options) as unknown as typeof fusionOptions.options),
      reciprocalRankOptions.extend({ method: z.literal('pool-rrf') }),
      combSumOptions.extend({ method: z.literal('pool-combsum') }),
    ]),
  () => FUSIONS.changes,
);
/** The checked options of one fusion of an arm. */
export type PoolFusionOptions = z.output<typeof relevanceFusionOptions>;

/** True if the signals' own lists are fused, and not scores of the whole pool. */
function fusesLists({ method }: PoolFusionOptions): boolean {
  if (method === 'pool-rrf' || method === 'pool-combsum') return false;
  return FUSIONS.get(method).fusesPool !== true;
}

/** The fusion that is computed, whatever it is given. */
function resolveFusion(options: PoolFusionOptions): FusionOptions {
  switch (options.method) {
    case 'pool-rrf':
      return { ...options, method: 'rrf' };
    case 'pool-combsum':
      return { ...options, method: 'combsum' };
    default:
      return options;
  }
}

/** The places of a pool's row that hold a candidate. */
function countOccupied(pool: PoolRows, query: number): number {
  const row = pool.positions.subarray(query * pool.width, (query + 1) * pool.width);
  const padding = row.indexOf(-1);
  return padding === -1 ? pool.width : padding;
}

/** The finds of the sources of each column, by its name. */
type ColumnLists = ReadonlyMap<string, readonly Candidates[]>;

/** The scores of a query's candidates; NaN for those that the column's sources did not find, where its list is given. */
function listCandidateScores(
  pool: PoolRows,
  query: number,
  column: Column,
  sources: readonly Candidates[] | undefined,
) {
  const start = query * pool.width;
  const end = start + countOccupied(pool, query);
  const scores = new Float64Array(column.subarray(start, end));
  if (sources === undefined) return scores;
  const listed = new Set<number>();
  for (const { positions, width } of sources)
    for (const position of positions.subarray(query * width, (query + 1) * width)) listed.add(position);
  for (let c = 0; c < scores.length; c++) if (!listed.has(pool.positions[start + c] as number)) scores[c] = Number.NaN;
  return scores;
}

/**
 * Shifts the scores of the candidates that a list holds so that the lowest is 0, where the normalisation gave negative
 * ones; their order stays. Decay would raise a negative score, and a candidate that no list holds, which has 0, must
 * not rank above one that a list holds.
 */
function shiftToZero(fused: Float64Array, columns: ScoreColumns): Float64Array {
  const lowest = fused.reduce((low, score) => Math.min(low, score), 0);
  if (lowest === 0) return fused;
  const held = markHeld(columns);
  return fused.map((score, c) => (held[c] === 1 ? score - lowest : 0));
}

/**
 * Fuses the columns of each query over its candidates, or their lists where they are given; a candidate that no list
 * holds has 0. No score of a method with a normalisation is negative.
 *
 * @param columns by name, in the order that the method asks for.
 * @returns [Q, C]
 */
export function fuseColumnsOfPool(
  pool: PoolRows,
  columns: ReadonlyMap<string, Column>,
  options: FusionOptions,
  lists?: ColumnLists,
): Column {
  const fused = new Float32Array(pool.positions.length);
  for (let query = 0; query < pool.queryCount; query++) {
    const named = Object.fromEntries(
      Array.from(columns, ([name, column]) => [name, listCandidateScores(pool, query, column, lists?.get(name))]),
    );
    const scores = fuseColumns(named, options);
    fused.set('normalisation' in options ? shiftToZero(scores, named) : scores, query * pool.width);
  }
  return fused;
}

/** Columns that become one, and their fusion. */
export interface FuseOptions {
  readonly columns: readonly string[];
  /** Null for a single column, which is taken as it is. */
  readonly fusion: PoolFusionOptions | null;
}

function pickColumns({ columns }: FuseOptions, outline: Outline): ReadonlyMap<string, ScoreColumn> {
  return new Map(columns.map((name) => [name, outline.columns.get(name) as ScoreColumn]));
}

/** The columns whose sources are looked at again when they are fused. */
function pickListed(options: FuseOptions, outline: Outline): ReadonlyMap<string, ScoreColumn> {
  const { fusion } = options;
  if (fusion === null) return new Map();
  const picked = [...pickColumns(options, outline)];
  return new Map(fusesLists(fusion) ? picked : picked.filter(([, { isListed }]) => isListed));
}

/** What the sources of each column that is fused by its list found; the pool is made of the same. */
async function collectLists(world: World, options: FuseOptions, outline: Outline): Promise<ColumnLists> {
  const lists = new Map<string, Candidates[]>();
  for (const [name, column] of pickListed(options, outline)) {
    const own = outline.sources.filter((source) => column.lists.includes(source.name));
    lists.set(name, await Promise.all(own.map(({ found }) => world.get(found))));
  }
  return lists;
}

/** A fusion of several columns takes the minima of those that have no other. */
function withMinima(fusion: PoolFusionOptions, columns: ReadonlyMap<string, ScoreColumn>): PoolFusionOptions {
  if (fusion.method !== 'convex' || fusion.weights === undefined || !Array.isArray(fusion.theoreticalMinimum))
    return fusion;
  const minima = Object.fromEntries(Array.from(columns, ([name, { minimum }]) => [name, minimum]));
  return { ...fusion, theoreticalMinimum: minima };
}

/** The most turns that the sources of each column find for a query. A column without sources, which scores a pool, has as many as the largest source. */
function countListed(columns: ReadonlyMap<string, ScoreColumn>, { sources }: Outline): ListLengths {
  const largest = Math.max(...sources.map(({ index }) => index.k));
  return Object.fromEntries(
    Array.from(columns, ([name, { lists }]) => {
      const own = sources.filter((source) => lists.includes(source.name));
      return [name, own.length === 0 ? largest : own.reduce((sum, { index }) => sum + index.k, 0)];
    }),
  );
}

/** One column of several, or the only one as it is. */
export const fuse = defineStep<FuseOptions>({
  name: 'fuse',
  summary: 'one score of several columns, by a method of fusion; a single column is taken as it is',
  takes: ['pool'],
  gives: 'scores',
  component: () => 'relevance',
  signals: (options, outline) =>
    new Map<string, Signal>(
      [...pickColumns(options, outline)].flatMap(([name, { signal, parts = [] }]) => [[name, signal], ...parts]),
    ),
  stages: (options, outline, _, pool) => (pickListed(options, outline).size > 0 ? pool.inputs : []),
  apply: async (options, state, outline, watch) => {
    const pool = requirePool(state);
    const components = new Map(state.components);
    const columns = pickColumns(options, outline);
    const { fusion } = options;
    for (const [name, { signal, parts = [] }] of columns) {
      components.set(name, await watch(name, () => state.world.get(signal, pool)));
      for (const [part, use] of parts) components.set(part, await state.world.get(use, pool));
    }
    // What takes scores as they are must not meet a negative one: decay would raise it. Lists hold the scores that an arm of one column would write.
    const takesScores = fusion === null || fusion.method === 'weighted' || fusesLists(fusion);
    // Sorted by name, since the hash of an arm does not know the order of keys, and a sum of floats does.
    const scored = new Map<string, Column>();
    for (const [name, { toScores }] of [...columns].sort(([a], [b]) => compareBytes(a, b))) {
      const column = components.get(name) as Column;
      scored.set(name, takesScores ? (toScores?.(column) ?? column) : column);
    }
    const [first] = scored.values();
    const fuseAll = async (given: PoolFusionOptions) => {
      const lists = await collectLists(state.world, options, outline);
      return watch('fusion', () => fuseColumnsOfPool(pool, scored, resolveFusion(withMinima(given, columns)), lists));
    };
    const relevance = fusion === null ? (first as Column) : await fuseAll(fusion);
    components.set('relevance', relevance);
    return { ...state, components, scores: new PendingScores([pool.queryCount, pool.width], relevance) };
  },
  explain: (_, parts) => parts.start('relevance'),
  reads: (options, outline) => [...pickColumns(options, outline).values()].flatMap(({ reads }) => reads),
  needs: (options, outline, find) => [...pickColumns(options, outline).values()].flatMap(({ needs }) => needs(find)),
  reach: (options, outline) => {
    const { fusion } = options;
    if (fusion === null) return null;
    const columns = pickColumns(options, outline);
    const isLeg = (name: string) => fusesLists(fusion) || columns.get(name)?.isZeroOutside === true;
    if (!options.columns.some(isLeg)) return null;
    const lengths = countListed(columns, outline);
    return {
      method: fusion.method,
      k: 'k' in fusion ? fusion.k : null,
      compute: () =>
        computeListReach(lengths, resolveFusion(withMinima(fusion, columns))).filter(({ source }) => isLeg(source)),
    };
  },
  origins: (options, outline) => [...pickColumns(options, outline).values()].map(({ strategy }) => strategy?.origin),
});

/** The weight of a column in a fusion: `rest` is 1 without the others. */
type FusionWeight = number | 'rest';
/** `only: column`, or a method with its options and the weights of columns. */
type WrittenFusion = Readonly<Record<string, string | Readonly<Record<string, unknown>>>>;

/** Keys of fusions that the names of columns take the place of. */
const NAMED_BY_COLUMNS: readonly string[] = ['method', 'weights', 'alpha', 'theoreticalMinimum'];

const POOL_METHODS: readonly string[] = ['pool-rrf', 'pool-combsum'];
/** The names of the methods that the step `fuse` knows. */
export const listMethods = () => [...FUSIONS.names, ...POOL_METHODS];

/** The options of a method that are no weights. */
export function getMethodOptions(method: string): Readonly<Record<string, z.ZodType>> {
  const member = FUSIONS.find(method.replace(/^pool-/, '')) as { readonly options: z.ZodObject } | undefined;
  const all = Object.entries(member?.options.shape ?? {});
  return Object.fromEntries(all.filter(([key]) => !NAMED_BY_COLUMNS.includes(key))) as Record<string, z.ZodType>;
}

function takesWeights(method: string): boolean {
  const member = FUSIONS.find(method.replace(/^pool-/, '')) as { readonly options: z.ZodObject } | undefined;
  return member !== undefined && 'weights' in member.options.shape;
}

/** A fusion as written: the weights of columns by their names, and what is left of the options. */
function readFusion([method, written]: readonly [string, Readonly<Record<string, unknown>>]) {
  const own = Object.keys(getMethodOptions(method));
  const entries = Object.entries(withoutNulls(written));
  const weights = Object.fromEntries(entries.filter(([key]) => !own.includes(key))) as Record<string, FusionWeight>;
  return { options: Object.fromEntries(entries.filter(([key]) => own.includes(key))), weights };
}

/** The weights with the rest as a number, whatever their order. */
function resolveWeights(weights: Readonly<Record<string, FusionWeight>>): Record<string, number> {
  const given = Object.values(weights).filter((weight) => weight !== 'rest');
  const rest = given.sort((a, b) => b - a).reduce((left, weight) => left - weight, 1);
  return Object.fromEntries(Object.entries(weights).map(([name, weight]) => [name, weight === 'rest' ? rest : weight]));
}

export const fusionWeight = z.union([z.number().nonnegative(), z.literal('rest')]);

/** A fusion as a config writes it. */
export const fuseOptions = z
  .union([z.string().transform((method) => ({ [method]: {} })), z.record(z.string(), z.unknown())])
  .transform((written, context): WrittenFusion => {
    const entries = Object.entries(withoutNulls(written as Record<string, unknown>));
    const [[method, options] = ['', {}], ...others] = entries;
    const known = ['only', ...listMethods()];
    if (others.length > 0) context.addIssue({ code: 'custom', message: `one method: ${known.join(', ')}` });
    else if (!known.includes(method)) addUnknownKey(method, known, context);
    if (context.issues.length > 0) return z.NEVER;
    if (method === 'only') return { only: parsePart(z.string(), options, ['only'], context) };
    const parsed = parsePart(z.record(z.string(), z.unknown()), options ?? {}, [method], context);
    if (context.issues.length > 0) return z.NEVER;
    const { weights, options: own } = readFusion([method, parsed]);
    for (const [name, weight] of Object.entries(weights)) parsePart(fusionWeight, weight, [method, name], context);
    const values = Object.values(weights);
    if (values.filter((weight) => weight === 'rest').length > 1)
      context.addIssue({ code: 'custom', path: [method], message: 'the weight rest once at most' });
    if (!takesWeights(method) && values.some((weight) => weight !== 1))
      context.addIssue({
        code: 'custom',
        path: [method],
        message: `1 for each column, since ${method} has no weights`,
      });
    const full = { ...own, method, ...(takesWeights(method) && needsWeights(method) ? { weights: { a: 1 } } : {}) };
    const checked = parsePart(relevanceFusionOptions, full, [method], context) as Record<string, unknown>;
    if (context.issues.length > 0) return z.NEVER;
    return { [method]: { ...Object.fromEntries(Object.keys(own).map((key) => [key, checked[key]])), ...weights } };
  });

/** True if every column of a fusion needs a weight of its own. */
const needsWeights = (method: string) => method === 'convex' || method === 'weighted';

/** The step of a fusion that was checked. */
export function createFusion(written: WrittenFusion, { columns }: Outline): readonly Step[] {
  const [[method, options]] = Object.entries(written) as [[string, string | Readonly<Record<string, unknown>>]];
  if (typeof options === 'string') return [fuse({ columns: [options], fusion: null })];
  const { weights } = readFusion([method, options]);
  const named = Object.keys(weights).length > 0 ? Object.keys(weights) : [...columns.keys()];
  const resolved = parseFusion([method, options]);
  if ('faults' in resolved) throw new ConfigurationError('the fusion of an arm', resolved.faults);
  return [fuse({ columns: named, fusion: named.length === 1 ? null : resolved.value })];
}

/** The options of a fusion with the weights of columns in their place, or what is wrong with them. */
function parseFusion(written: readonly [string, Readonly<Record<string, unknown>>]) {
  const [method] = written;
  const { options, weights } = readFusion(written);
  const named = takesWeights(method) && Object.keys(weights).length > 0 ? { weights: resolveWeights(weights) } : {};
  return check(relevanceFusionOptions, { ...options, method, ...named });
}

/** Reports columns and weights that do not fit the steps before. */
export function checkFusion(written: WrittenFusion, { columns }: Outline, fault: AddFault): void {
  const [[method, options]] = Object.entries(written) as [[string, string | Readonly<Record<string, unknown>>]];
  const known = [...columns.keys()];
  const expected = `a column of the arm (${known.join(', ')})`;
  if (typeof options === 'string') {
    if (!columns.has(options)) fault(['only'], expected);
    return;
  }
  const { weights } = readFusion([method, options]);
  for (const name of Object.keys(weights)) if (!columns.has(name)) fault([method, name], expected);
  const resolved = parseFusion([method, options]);
  for (const { path, expected: wanted } of 'faults' in resolved ? resolved.faults : []) {
    const [name, ...rest] = path
      .replace(/^weights\.?/, '')
      .split('.')
      .filter(Boolean);
    const isRest = name !== undefined && weights[name] === 'rest';
    const place = name === undefined ? [] : [name, ...rest];
    fault([method, ...place], isRest ? 'other weights whose sum is at most 1' : wanted);
  }
  if (needsWeights(method) && Object.keys(weights).length === 0)
    fault([method], `the weight of each column by its name (${known.join(', ')})`);
  const named = Object.keys(weights).length > 0 ? Object.keys(weights) : known;
  if (FUSIONS.find(method)?.fusesPool === true || POOL_METHODS.includes(method)) return;
  for (const name of named)
    if (columns.get(name)?.lists.length === 0)
      fault(
        [method],
        `columns of sources, whose lists ${method} fuses; ${name} is of none, or method pool-rrf or pool-combsum`,
      );
}
