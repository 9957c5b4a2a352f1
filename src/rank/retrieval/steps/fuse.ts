import type { Candidates } from '../../../model/candidates.ts';
import { compareBytes } from '../../../model/turns/tie-rule.ts';
import { computeListReach, type ListLengths } from '../../../ops/fusion/reach.ts';
import type { Column } from '../../signals/candidate-pool.ts';
import type { Signal, World } from '../../signals/signal.ts';
import {
  type ColumnLists,
  fuseColumnsOfPool,
  fusesLists,
  type PoolFusionOptions,
  resolveFusion,
} from '../relevance.ts';
import { defineStep, type Outline, PendingScores, requirePool, type ScoreColumn } from './step.ts';

/** Which columns become one, and how. */
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
