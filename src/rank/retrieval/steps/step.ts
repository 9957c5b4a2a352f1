import * as tf from '@tensorflow/tfjs-core';
import { prefersPlainProducts } from '../../../core/tensors/backend.ts';
import { readBack } from '../../../core/tensors/scope.ts';
import type { IndexOptions } from '../../../index/registry.ts';
import type { SliceOptions } from '../../../kernel/slices/slice-options.ts';
import type { Candidates } from '../../../model/candidates.ts';
import type { Dataset } from '../../../model/dataset.ts';
import type { PropagationOptions } from '../../../ops/attention/options.ts';
import type { ListReach } from '../../../ops/fusion/reach.ts';
import { createColumnSignals, type ScoringOptions } from '../../signals/bank/options.ts';
import type { Plan } from '../../signals/plan.ts';
import type { Signal, StageUse, World } from '../../signals/signal.ts';
import type { StrategyOptions, TrajectoryOptions, WeightsOrigin } from '../../signals/signal-options.ts';
import type { CandidatePool, Column, Stage } from '../../signals/stage.ts';
import type { Workspace } from '../../signals/workspace.ts';
import type { WorldPart } from '../../signals/worlds/world-parts.ts';
import type { ScoreParts } from './score-parts.ts';

/**
 * Parts that some datasets lack: hours and dates, an order of turns, threads (replies, conversations of several turns,
 * channels).
 */
export type DataPart = 'clock' | 'order' | 'threads';

/** A part of an arm or a model that reads something which not every dataset has, and the setting that omits it. */
export interface DataReader {
  readonly needs: DataPart;
  readonly part: string;
  readonly remedy: string;
}

interface Reader {
  readonly name: string;
  readonly reads: readonly WorldPart[];
}

/** The first of the parts of the data that are of interest which a signal needs; null for none. */
export type FindNeed = (reader: Reader) => DataPart | null;

/**
 * The parts of the world that follow from replies and conversations; all turns of data without threads are alike in
 * them.
 */
const THREAD_PARTS: readonly WorldPart[] = ['replies', 'order', 'trees', 'answer-counts', 'coordinates'];

/** Signals that follow replies where there are any, besides what the texts name and mention. */
const needsNoThreads = (name: string) => name === 'list-scores' || Object.hasOwn(createColumnSignals('graph'), name);

/**
 * True if a signal needs a part of the data. What reads times and nothing else ranks by them; other signals read times
 * only to see no later turn.
 */
const NEEDS: Readonly<Record<DataPart, (reader: Reader) => boolean>> = {
  clock: ({ reads }) => reads.includes('clock'),
  order: ({ reads }) => reads.length === 1 && reads[0] === 'times',
  threads: ({ name, reads }) => !needsNoThreads(name) && reads.some((part) => THREAD_PARTS.includes(part)),
};

/**
 * The first of the parts that a signal needs, threads before the clock: a setting that omits a coordinate does not help
 * where no coordinate has a meaning.
 */
export function findNeed(reader: Reader, among: ReadonlySet<DataPart>): DataPart | null {
  const parts: readonly DataPart[] = ['threads', 'order', 'clock'];
  return parts.find((part) => among.has(part) && NEEDS[part](reader)) ?? null;
}

/** Runs each part of a retrieval and observes it, for example its time. Parts may be nested. */
export type Watch = <T>(part: string, work: () => Promise<T> | T) => Promise<T>;

export const runUnwatched: Watch = async (_, work) => work();

/**
 * States between the steps of an arm, in their order: the turns that a query may see, the pool of its candidates,
 * their scores, and the order of the best of them.
 */
export const ARM_STATES = ['turns', 'pool', 'scores', 'ranking'] as const;
export type ArmState = (typeof ARM_STATES)[number];

/** The turns that the sources of an arm search for each query, and the vectors that theirs are mixed with. */
export interface View {
  /** The text of a filter; null: every earlier turn. */
  readonly filter: string | null;
  /** The slice that a kernel signs; null: every earlier turn. */
  readonly slice: SliceOptions | null;
  /** The mixture of vectors that the index `flat` searches; null for the turns' own. */
  readonly propagation: PropagationOptions | null;
}

/** A named source of candidates. */
export interface Source {
  readonly name: string;
  readonly index: IndexOptions;
  readonly found: StageUse<Candidates>;
}

/** A named column of scores over the pool. */
export interface ScoreColumn {
  readonly signal: Signal;
  /** The names of the sources whose lists are the column's own, for fusions of lists. */
  readonly lists: readonly string[];
  /** True if the lists alone have scores: a fusion of the pool gets none for the other candidates. */
  readonly isListed: boolean;
  /** True if the score of a candidate outside of the lists is 0. */
  readonly isZeroOutside: boolean;
  /** The least score that there can be. */
  readonly minimum: number;
  /** The column as scores that are never negative; itself where it is left out. */
  readonly toScores?: (column: Column) => Column;
  /** Columns that this one is computed from, shown beside it. */
  readonly parts?: ReadonlyMap<string, Signal>;
  /** Parts of the world that null controls may destroy, besides those that the sources read. */
  readonly reads: readonly WorldPart[];
  /** Parts of the data that the column needs. */
  readonly needs: (find: FindNeed) => readonly DataReader[];
  /** Weights of the five signals of memories, by question. */
  readonly strategy?: StrategyOptions;
}

/** Facts of an arm that are known before anything is computed. */
export interface Outline {
  readonly view: View;
  readonly sources: readonly Source[];
  /** The texts of filters that leave turns out of the pool. */
  readonly poolFilters: readonly string[];
  /** By name, in the order in which they were added. */
  readonly columns: ReadonlyMap<string, ScoreColumn>;
}

/** The start of every arm: a query sees every earlier turn. */
export const EMPTY_OUTLINE: Outline = {
  view: { filter: null, slice: null, propagation: null },
  sources: [],
  poolFilters: [],
  columns: new Map(),
};

/** A change of scores by a column, both [Q, C]. */
export interface ScoreChange {
  readonly change: (scores: tf.Tensor2D, column: tf.Tensor2D) => tf.Tensor2D;
  /** The same on the host, with the bits of `wasm`. Left out: by tensors on every backend. */
  readonly changeOnHost?: ((scores: Column, column: Column, width: number) => Column) | undefined;
}

/**
 * Scores [Q, C] that steps change in turn. The changes since the last reading are one scope on the device; on `wasm`
 * and `cpu` they are loops of the host.
 */
export class PendingScores {
  readonly #shape: [number, number];
  #base: Column;
  #changes: readonly (ScoreChange & { readonly column: Column })[];

  constructor(shape: [number, number], base: Column, changes: readonly (ScoreChange & { column: Column })[] = []) {
    this.#shape = shape;
    this.#base = base;
    this.#changes = changes;
  }

  with(column: Column, change: ScoreChange): PendingScores {
    return new PendingScores(this.#shape, this.#base, [...this.#changes, { ...change, column }]);
  }

  #upload(column: Column): tf.Tensor2D {
    return tf.tensor2d(column, this.#shape);
  }

  #compose(): Promise<Column> | Column {
    const changes = this.#changes;
    if (prefersPlainProducts() && changes.every(({ changeOnHost }) => changeOnHost !== undefined))
      return changes.reduce(
        (scores, { changeOnHost, column }) => changeOnHost?.(scores, column, this.#shape[1]) ?? scores,
        this.#base,
      );
    return readBack('compose', () =>
      changes.reduce((scores, { change, column }) => change(scores, this.#upload(column)), this.#upload(this.#base)),
    );
  }

  /** @returns row-major [Q, C] */
  async read(watch: Watch): Promise<Column> {
    this.#base = await watch('compose', () => (this.#changes.length === 0 ? this.#base : this.#compose()));
    this.#changes = [];
    return this.#base;
  }
}

/** Results of the steps so far, for all queries. */
export interface RankState {
  readonly workspace: Workspace;
  /** The workspace, or the world of the arm's null control. */
  readonly world: World;
  /** Null before the search. */
  readonly pool: CandidatePool | null;
  /** Null before the fusion. */
  readonly scores: PendingScores | null;
  /** By name, in the order of their computation. */
  readonly components: ReadonlyMap<string, Column>;
}

/** A fusion whose lists bring a turn of their own to certain ranks alone. */
export interface FusionReach {
  readonly method: string;
  /** The constant that flattens the difference between ranks, of methods that have one. */
  readonly k: number | null;
  /** @throws RagPlusPlusError where the method refuses lists that no query has. */
  compute(): readonly ListReach[];
}

/** An attribute of turns that a step reads, and the setting that omits it. */
export interface AttributeRead {
  readonly part: string;
  readonly attribute: string;
  readonly remedy: string;
}

/** The arm of a step after its last step: for the effects of steps that rank nothing by themselves. */
export interface Applied {
  /** After the last step. */
  readonly state: RankState;
  readonly outline: Outline;
  /** True if the step comes after the search. */
  readonly isSearched: boolean;
}

/** The number of queries on which each part of a step has an effect; the step as a whole is the part ''. */
export type Effects = Readonly<Record<string, number>>;

/** One step of an arm with its options: everything that is asked of it, before anything is computed and while it is. */
export interface Step {
  /** The name of the step in its arm, and of the component that shows its effect; two steps of an arm have two names. */
  readonly name: string;
  readonly takes: readonly ArmState[];
  /** Null: what it takes. */
  readonly gives: ArmState | null;
  /** The outline with the facts of this step; the other methods get the outline of the whole arm. */
  outline(before: Outline): Outline;
  /** The columns over the pool that the step computes, by the names of their components. */
  signals(outline: Outline): ReadonlyMap<string, Signal>;
  /** Stages that the step is computed from. @param world of the columns; `plan` is the undisturbed one. */
  stages(outline: Outline, world: Plan, pool: Stage, plan: Plan): readonly Stage[];
  apply(state: RankState, outline: Outline, watch: Watch): Promise<RankState>;
  /** Null for a step whose effect is seen in the rankings before and after it. */
  readonly countEffects: ((applied: Applied) => Promise<Effects>) | null;
  /** Adds the step to the parts of a query's scores. */
  explain(parts: ScoreParts): void;
  /** The parts of the step that need something which not every dataset has. */
  needs(outline: Outline, find: FindNeed): readonly DataReader[];
  /** Parts of the world that null controls may destroy. */
  reads(outline: Outline): readonly WorldPart[];
  /** Attributes without which it does nothing. */
  readonly attributes: readonly AttributeRead[];
  /** Origins of its learned numbers. */
  origins(outline: Outline): readonly WeightsOrigin[];
  /** The trajectory coordinates that it compares, to be shown beside scores. */
  readonly coordinates: TrajectoryOptions | null;
  /** The signals that it sums. */
  readonly mix: ScoringOptions | null;
  /** True if it compares vectors of turns that its columns do not read. */
  readonly comparesVectors: boolean;
  /** The best rank of a turn that one list alone holds; null if the step fuses no lists. */
  reach(outline: Outline): FusionReach | null;
  /** @throws ValidationError for data of another kind than the step asks for. @param owner the arm, in the error. */
  assertData(dataset: Dataset, owner: string): void;
}

/** Describes a step once; what is left out has the effect that its comment says. */
export interface StepDefinition<O> {
  /** The name in a config. */
  readonly name: string;
  /** The row of docs/arms.md. */
  readonly summary: string;
  readonly takes: readonly ArmState[];
  /** Left out: what it takes. */
  readonly gives?: ArmState;
  /** The component that shows the step; its name where it is left out. */
  readonly component?: (options: O) => string;
  /** Left out: it adds nothing that is known before anything is computed. */
  readonly outline?: (options: O, before: Outline) => Outline;
  /** Left out: none. */
  readonly signals?: (options: O, outline: Outline, component: string) => ReadonlyMap<string, Signal>;
  /** Left out: none. */
  readonly stages?: (options: O, outline: Outline, world: Plan, pool: Stage, plan: Plan) => readonly Stage[];
  /** Left out: the step is one of the outline alone. */
  readonly apply?: (
    options: O,
    state: RankState,
    outline: Outline,
    watch: Watch,
    component: string,
  ) => Promise<RankState> | RankState;
  /** Left out: the queries whose ranking the step changes. */
  readonly countEffects?: (options: O, applied: Applied) => Promise<Effects> | Effects;
  /** Left out: it adds nothing to scores. */
  readonly explain?: (options: O, parts: ScoreParts, component: string) => void;
  /** Left out: what its columns read. */
  readonly needs?: (options: O, outline: Outline, find: FindNeed) => readonly DataReader[];
  /** Left out: what its columns read. */
  readonly reads?: (options: O, outline: Outline) => readonly WorldPart[];
  readonly attributes?: (options: O) => readonly AttributeRead[];
  readonly origins?: (options: O, outline: Outline) => readonly (WeightsOrigin | null | undefined)[];
  readonly coordinates?: (options: O) => TrajectoryOptions | null;
  readonly mix?: (options: O) => ScoringOptions | null;
  readonly comparesVectors?: (options: O) => boolean;
  readonly reach?: (options: O, outline: Outline) => FusionReach | null;
  readonly assertData?: (options: O, dataset: Dataset, owner: string) => void;
}

/** A step that options are still to be given to, and its component where it has a name of its own in its arm. */
export interface StepOf<O> {
  (options: O, component?: string): Step;
  readonly definition: Pick<Step, 'name' | 'takes' | 'gives'> & { readonly summary: string };
}

const NO_SIGNALS: ReadonlyMap<string, Signal> = new Map();

/** @returns what makes a step of its options. */
export function defineStep<O>(definition: StepDefinition<O>): StepOf<O> {
  const { name, summary, takes, gives = null } = definition;
  const create = (options: O, component = definition.component?.(options) ?? name): Step => {
    const signals = (outline: Outline) => definition.signals?.(options, outline, component) ?? NO_SIGNALS;
    const readSignals = (outline: Outline) => [...signals(outline).values()].flatMap(({ reads }) => reads);
    const needOf = (signal: Signal, find: FindNeed): DataReader[] => {
      const needs = find(signal);
      return needs === null ? [] : [{ needs, part: component, remedy: `leave the step ${component} out` }];
    };
    return {
      name: component,
      takes,
      gives,
      outline: (before) => definition.outline?.(options, before) ?? before,
      signals,
      stages: (outline, world, pool, plan) => [
        ...[...signals(outline).values()].map((signal) => world.stage(signal, pool)),
        ...(definition.stages?.(options, outline, world, pool, plan) ?? []),
      ],
      apply: async (state, outline, watch) =>
        (await definition.apply?.(options, state, outline, watch, component)) ?? state,
      countEffects: definition.countEffects
        ? async (applied) => (await definition.countEffects?.(options, applied)) ?? {}
        : null,
      explain: (parts) => definition.explain?.(options, parts, component),
      needs: (outline, find) =>
        definition.needs?.(options, outline, find) ??
        [...signals(outline).values()].flatMap((signal) => needOf(signal, find)),
      reads: (outline) => definition.reads?.(options, outline) ?? readSignals(outline),
      attributes: definition.attributes?.(options) ?? [],
      origins: (outline) => (definition.origins?.(options, outline) ?? []).filter((origin) => origin != null),
      coordinates: definition.coordinates?.(options) ?? null,
      mix: definition.mix?.(options) ?? null,
      comparesVectors: definition.comparesVectors?.(options) ?? false,
      reach: (outline) => definition.reach?.(options, outline) ?? null,
      assertData: (dataset, owner) => definition.assertData?.(options, dataset, owner),
    };
  };
  return Object.assign(create, { definition: { name, summary, takes, gives } });
}

/** The pool and scores of a state that a step asks for: the order of steps is checked before they are applied. */
export function requirePool({ pool }: RankState): CandidatePool {
  return pool as CandidatePool;
}

/** A component for each column that a step computes, one after the other. */
export async function computeColumns(
  state: RankState,
  signals: ReadonlyMap<string, Signal>,
  watch: Watch,
): Promise<RankState> {
  const components = new Map(state.components);
  for (const [name, signal] of signals)
    components.set(name, await watch(name, () => state.world.get(signal, requirePool(state))));
  return { ...state, components };
}

/** A step that changes scores by one column of its own. */
export function defineScoreStep<O>({
  signal,
  change,
  changeOnHost,
  ...definition
}: Omit<StepDefinition<O>, 'takes' | 'signals' | 'apply'> & {
  readonly signal: (options: O) => Signal;
  /** Gets the scores so far and the column, both [Q, C]. */
  readonly change: (options: O, scores: tf.Tensor2D, column: tf.Tensor2D) => tf.Tensor2D;
  /** See {@link ScoreChange}. */
  readonly changeOnHost?: (options: O) => ScoreChange['changeOnHost'];
}): StepOf<O> {
  return defineStep<O>({
    ...definition,
    takes: ['scores'],
    signals: (options, _, component) => new Map([[component, signal(options)]]),
    apply: async (options, state, _, watch, component) => {
      const computed = await computeColumns(state, new Map([[component, signal(options)]]), watch);
      const column = computed.components.get(component) as Column;
      const scores = (state.scores as PendingScores).with(column, {
        change: (so, own) => change(options, so, own),
        changeOnHost: changeOnHost?.(options),
      });
      return { ...computed, scores };
    },
  });
}
