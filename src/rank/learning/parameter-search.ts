import { ValidationError } from '../../core/errors/errors.ts';
import { createRandom, type Random } from '../../core/numbers/random.ts';
import { ensureBackend } from '../../core/tensors/backend.ts';
import { createEventBreaks } from '../../core/terminal/progress.ts';
import type { FeatureTable } from './feature-table.ts';
import { createTableMetric } from './fit-options.ts';
import { type ScoringModel, TableScorer } from './model.ts';
import {
  chooseParameterValues,
  constrainValues,
  freeValues,
  listHandTunedValues,
  type ParameterSpec,
  type Parametric,
  splitParameters,
} from './parameters.ts';

/**
 * A row's loss with its gradient takes the time of two evaluations of the row, which are its scores, their ranking and
 * the metric. Measured on wasm: 1.6 with a linear mix of 142 signals, 2.0 with the trajectory model; 2.7 times the
 * scores alone.
 */
export const GRADIENT_EVALUATIONS = 2;

/** The parts of a training. */
interface TrainedRows {
  readonly epochs: number;
  readonly rows: number;
  /** Rows that are evaluated once before the first epoch and once after each. */
  readonly validationRows: number;
}

/**
 * The work of a training, counted in evaluations of a row. It depends on no clock, so that a search with the same
 * budget is the same everywhere.
 */
export function countRowEvaluations({ epochs, rows, validationRows }: TrainedRows): number {
  return epochs * GRADIENT_EVALUATIONS * rows + (epochs + 1) * validationRows;
}

/** The number of evaluations of all rows that equals the work of the trainings; at least one. */
export function computeEqualBudget(work: number, rows: number): number {
  return Math.max(1, Math.round(work / rows));
}

/** What parameters are worth, the more the better. @param values [P] in their domains */
export type SearchObjective = (values: Float64Array) => Promise<number>;

/** The budget of a search without gradients, and the seed of its draws. */
export interface SearchOptions {
  /** The maximum number of evaluations of the objective. */
  readonly budget: number;
  readonly seed: number;
}

/** The best point that a search found: its P values, the objective there, and the number of evaluations. */
export interface SearchResult {
  /** [P] in their domains. */
  readonly values: Float64Array;
  readonly value: number;
  /** The number of evaluations of the objective. */
  readonly evaluations: number;
  /** True if no evaluation was better than the first. */
  readonly isStart: boolean;
}

/** Runs a search on the metric of a table's rankings; the table is on the device during the search. */
export async function searchOnTable<T>(
  model: ScoringModel,
  table: FeatureTable,
  metricId: string,
  search: (objective: SearchObjective) => Promise<T>,
): Promise<T> {
  const metric = createTableMetric(table, metricId);
  await ensureBackend();
  const scorer = new TableScorer(model, table);
  try {
    return await search(async (values) => metric.mean(await scorer.scoreWith(values)));
  } finally {
    scorer.dispose();
  }
}

/** Shares drawn evenly from all that sum to 1 (Dirichlet with all ones). */
function drawShares(count: number, stream: Random): number[] {
  const parts = Array.from({ length: count }, () => -Math.log(1 - stream.uniform()));
  const sum = parts.reduce((total, part) => total + part, 0);
  return parts.map((part) => part / sum);
}

/** Values of one parameter: those that must be positive evenly by their logarithm. */
export function drawValues({ constraint, labels, range: [low, high] }: ParameterSpec, stream: Random): number[] {
  if (constraint === 'simplex') return drawShares(labels.length, stream);
  return labels.map(() =>
    constraint === 'positive' ? low * (high / low) ** stream.uniform() : low + (high - low) * stream.uniform(),
  );
}

/** Scales of the noise around the start, the least and the greatest. */
const NEAR = 0.01;
const FAR = 1;

/** Values of a positive parameter, within the range of the searches. */
function clampToRange({ constraint, range: [low, high], initial }: ParameterSpec, values: Float64Array): Float64Array {
  if (constraint !== 'positive') return values;
  return values.map((value, i) => Math.min(high, Math.max(Math.min(low, initial[i] as number), value)));
}

/**
 * Values around the hand-tuned ones: normal noise on all free numbers, on one scale that is drawn evenly by its
 * logarithm.
 */
export function drawAround(model: Parametric, stream: Random): Float64Array {
  const scale = NEAR * (FAR / NEAR) ** stream.uniform();
  const theta = freeValues(model, listHandTunedValues(model)).map((number) => number + scale * stream.drawNormal());
  const parts = new Map([...splitParameters(model, constrainValues(model, theta))]);
  return chooseParameterValues(model, (spec) => clampToRange(spec, parts.get(spec) as Float64Array));
}

/** Asks an objective and keeps the best, until the budget is spent. */
export class Evaluations {
  readonly #objective: SearchObjective;
  readonly #budget: number;
  readonly #pause = createEventBreaks();
  values: Float64Array = new Float64Array();
  value = Number.NEGATIVE_INFINITY;
  count = 0;
  /** The question that the best values were. */
  #bestAt = 0;

  constructor(objective: SearchObjective, budget: number) {
    if (!Number.isInteger(budget) || budget < 1)
      throw new ValidationError(`budget is not an integer from 1: ${budget}; pass a number of evaluations`);
    this.#objective = objective;
    this.#budget = budget;
  }

  get isSpent(): boolean {
    return this.count >= this.#budget;
  }

  async ask(values: Float64Array): Promise<number> {
    await this.#pause();
    const value = await this.#objective(values);
    this.count++;
    if (value > this.value) {
      this.value = value;
      this.values = values;
      this.#bestAt = this.count;
    }
    return value;
  }

  summariseSearch(): SearchResult {
    return { values: this.values, value: this.value, evaluations: this.count, isStart: this.#bestAt <= 1 };
  }
}

/**
 * Asks the objective about the hand-tuned values first, then in turn about values near them and about values from the
 * whole range: of many numbers, draws from the range alone hardly ever beat the start (bergstra2012random).
 */
export async function randomSearch(
  model: Parametric,
  objective: SearchObjective,
  { budget, seed }: SearchOptions,
): Promise<SearchResult> {
  const evaluations = new Evaluations(objective, budget);
  const stream = createRandom(seed, 'random search');
  await evaluations.ask(listHandTunedValues(model));
  while (!evaluations.isSpent) {
    const isNear = evaluations.count % 2 === 1;
    await evaluations.ask(
      isNear ? drawAround(model, stream) : chooseParameterValues(model, (spec) => drawValues(spec, stream)),
    );
  }
  return evaluations.summariseSearch();
}

/** The first step along a coordinate as a share of its number, and the least first step. */
const FIRST_STEP = 0.05;
const STEPS = 9;
const TOLERANCE = 1e-9;

/**
 * True if positive numbers are within the range of the searches: a temperature near 0 gives scores that are not finite.
 */
function isWithinReach(model: Parametric, values: Float64Array): boolean {
  return [...splitParameters(model, values)].every(
    ([{ constraint, range, initial }, part]) =>
      constraint !== 'positive' ||
      part.every((value, i) => value <= range[1] && value >= Math.min(range[0], initial[i] as number)),
  );
}

/** The best of the points along one coordinate, in both directions, steps doubling. */
async function searchCoordinate(
  model: Parametric,
  evaluations: Evaluations,
  theta: Float64Array,
  at: number,
  value: number,
) {
  const origin = theta[at] as number;
  const first = FIRST_STEP * Math.max(Math.abs(origin), 1);
  let best = { theta, value };
  for (const direction of [1, -1]) {
    for (let k = 0; k < STEPS && !evaluations.isSpent; k++) {
      const moved = theta.with(at, origin + direction * first * 2 ** k);
      const values = constrainValues(model, moved);
      if (!isWithinReach(model, values)) break; // longer steps lead further away
      const found = await evaluations.ask(values);
      if (found > best.value + TOLERANCE) best = { theta: moved, value: found };
    }
  }
  return best;
}

/** Goes from one start to a point that no single coordinate improves. */
async function climb(model: Parametric, evaluations: Evaluations, start: Float64Array, stream: Random): Promise<void> {
  let theta = freeValues(model, start);
  let value = await evaluations.ask(constrainValues(model, theta));
  for (let isBetter = true; isBetter && !evaluations.isSpent; ) {
    isBetter = false;
    for (const at of stream.shuffle([...theta.keys()])) {
      const best = await searchCoordinate(model, evaluations, theta, at, value);
      isBetter ||= best.value > value;
      ({ theta, value } = best);
    }
  }
}

/**
 * Coordinate ascent on the metric itself (metzler2007linear), over the free numbers: one after the other in random
 * order is moved to the best of doubling steps until none improves, from the hand-tuned values, then from random ones
 * for as long as the budget lasts.
 */
export async function coordinateAscent(
  model: Parametric,
  objective: SearchObjective,
  { budget, seed }: SearchOptions,
): Promise<SearchResult> {
  const evaluations = new Evaluations(objective, budget);
  const stream = createRandom(seed, 'coordinate ascent');
  await climb(model, evaluations, listHandTunedValues(model), stream);
  while (!evaluations.isSpent)
    await climb(
      model,
      evaluations,
      chooseParameterValues(model, (spec) => drawValues(spec, stream)),
      stream,
    );
  return evaluations.summariseSearch();
}
