import { ValidationError } from '../../core/errors/errors.ts';
import type { Random } from '../../core/numbers/random.ts';
import { ensureBackend } from '../../core/tensors/backend.ts';
import { createEventBreaks } from '../../core/values/event-loop.ts';
import type { FeatureTable } from './feature-table.ts';
import type { ScoringModel } from './model.ts';
import {
  chooseParameterValues,
  constrainValues,
  freeValues,
  listHandTunedValues,
  type ParameterSpec,
  type Parametric,
  splitParameters,
} from './parameters.ts';
import { createTableMetric } from './table-metrics.ts';
import { TableScorer } from './table-scorer.ts';

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
  /** Whether no evaluation was better than the first. */
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

/** Values around the hand-tuned ones: normal noise on all free numbers, on one scale that is drawn evenly by its logarithm. */
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
