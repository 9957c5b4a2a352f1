import type { CandidatePool, Column } from '../signals/stage.ts';
import type { Workspace } from '../signals/workspace.ts';
import type { Ranking } from './rank.ts';
import { type Effects, type RankState, requirePool, runUnwatched, type Step } from './steps/step.ts';
import { type Arm, type RankOptions, readArm } from './written-steps.ts';

/** The number of queries that a step of an arm changes. */
export interface StepChange {
  /** The step as the arm writes it, with the part of it: `decay`, `blend.rcp`, `search.graph`. */
  readonly step: string;
  readonly queries: number;
  /** The mean tokens of a query that a placebo shows, and those that its arm shows. */
  readonly tokens?: { readonly shown: number; readonly of: number };
}

/** Orders the candidates of each query. */
type Order = (pool: CandidatePool, scores: Column) => Promise<Ranking>;

/** The queries whose ranking differs from each of some others of the same pool. */
function countDiffering({ slots, depth }: Ranking, others: readonly Ranking[]): number {
  let count = 0;
  for (let start = 0; start < slots.length; start += depth) {
    const row = slots.subarray(start, start + depth);
    if (others.every((other) => row.some((slot, i) => slot !== other.slots[start + i]))) count++;
  }
  return count;
}

/** [steps] the effects of each step that ranks nothing by itself; null for the others. */
async function countUnranked({ steps, outline }: Arm, state: RankState): Promise<(Effects | null)[]> {
  const searched = steps.findIndex(({ gives }) => gives === 'pool');
  const effects: (Effects | null)[] = [];
  for (const [i, { countEffects }] of steps.entries())
    effects.push((await countEffects?.({ state, outline, isSearched: i > searched })) ?? null);
  return effects;
}

/** @param counts [steps] */
function nameCounts({ names }: Arm, counts: readonly (Effects | null)[]): StepChange[] {
  return names.flatMap((name, i) =>
    name === null
      ? []
      : Object.entries(counts[i] ?? {}).map(([part, queries]) => ({
          step: part === '' ? name : `${name}.${part}`,
          queries,
        })),
  );
}

/**
 * Counts the queries that each step of an arm changes, while the steps are applied.
 *
 * * A step that changes scores or a ranking: the queries whose first ranks differ before and after it.
 * * A step that makes scores of several columns: the queries of which no column alone gives the same first ranks; of
 *   one column or of a table of signals: those whose first ranks are not in the order of the tie rule.
 * * Other steps: see `countEffects` of each.
 *
 * A fusion that the arm does not write has no count. Costs a ranking of the pool for each step and each fused column.
 */
export class StepChanges {
  readonly #arm: Arm;
  readonly #order: Order;
  /** In the order of the steps; a step that ranks nothing has its place, and its effects are counted in the end. */
  readonly #counts: Effects[];
  #ranks: Ranking | null = null;

  constructor(arm: Arm, order: Order) {
    this.#arm = arm;
    this.#order = order;
    this.#counts = arm.steps.map(() => ({}));
  }

  /** @param index of the step that was applied. */
  async see(index: number, before: RankState, after: RankState): Promise<void> {
    const { countEffects } = this.#arm.steps[index] as Step;
    if (after.scores === null || countEffects !== null) return;
    const ranks = await this.#order(requirePool(after), await after.scores.read(runUnwatched));
    if (this.#arm.names[index] !== null) {
      const bases = this.#ranks === null ? await this.#rankColumns(before, after) : [this.#ranks];
      this.#counts[index] = { '': countDiffering(ranks, bases) };
    }
    this.#ranks = ranks;
  }

  /** The rankings by each of several columns that became scores, or that of equal scores. */
  #rankColumns(before: RankState, after: RankState): Promise<Ranking[]> {
    const pool = requirePool(after);
    const isColumn = (name: string) => this.#arm.outline.columns.has(name) && !before.components.has(name);
    const columns = [...after.components].flatMap(([name, column]) => (isColumn(name) ? [column] : []));
    const bases = columns.length > 1 ? columns : [new Float32Array(pool.positions.length)];
    return Promise.all(bases.map((column) => this.#order(pool, column)));
  }

  /** Counts what is known after the last step. */
  async finish(state: RankState): Promise<void> {
    for (const [i, effects] of (await countUnranked(this.#arm, state)).entries())
      if (effects !== null) this.#counts[i] = effects;
  }

  /** After the last step that ranks; null before the first. */
  get ranking(): Ranking | null {
    return this.#ranks;
  }

  /** In the order of the steps. */
  get counted(): StepChange[] {
    return nameCounts(this.#arm, this.#counts);
  }
}

/**
 * Counts the queries that the steps of an arm change which rank nothing by themselves, such as those before a mix that
 * is fitted.
 */
export async function countUnrankedChanges(
  workspace: Workspace,
  options: RankOptions,
  pool: CandidatePool,
): Promise<StepChange[]> {
  const arm = readArm(options);
  const state = { workspace, world: workspace.under(arm.control), pool, scores: null, components: new Map() };
  return nameCounts(arm, await countUnranked(arm, state));
}
