import { ValidationError } from '../core/errors.ts';
import { eventBreaks } from '../core/event-loop.ts';
import type { Random } from '../core/random.ts';
import type { FeatureTable } from './feature-table.ts';
import type { ScoringModel } from './model.ts';
import type { ParameterSpec } from './parameters.ts';
import { tableMetric } from './table-metrics.ts';
import { TableScorer } from './table-scorer.ts';

/** What parameters are worth, the more the better. @param values [P] in their domains */
export type SearchObjective = (values: Float64Array) => Promise<number>;

export interface SearchOptions {
  /** How often the objective may be asked. */
  readonly budget: number;
  readonly seed: number;
}

export interface SearchResult {
  /** [P] in their domains. */
  readonly values: Float64Array;
  readonly value: number;
  /** How often the objective was asked. */
  readonly evaluations: number;
}

/** Runs a search on the metric of a table's rankings; the table is on the device meanwhile. */
export async function searchOnTable<T>(
  model: ScoringModel,
  table: FeatureTable,
  metricId: string,
  search: (objective: SearchObjective) => Promise<T>,
): Promise<T> {
  const metric = tableMetric(table, metricId);
  const scorer = new TableScorer(model, table);
  try {
    return await search(async (values) => metric.mean(await scorer.scores(values)));
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

/** Asks an objective and keeps the best, until the budget is spent. */
export class Evaluations {
  readonly #objective: SearchObjective;
  readonly #budget: number;
  readonly #pause = eventBreaks();
  values: Float64Array = new Float64Array();
  value = Number.NEGATIVE_INFINITY;
  count = 0;

  constructor(objective: SearchObjective, budget: number) {
    if (!Number.isInteger(budget) || budget < 1)
      throw new ValidationError(`budget must be an integer from 1: ${budget}`);
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
    }
    return value;
  }

  result(): SearchResult {
    return { values: this.values, value: this.value, evaluations: this.count };
  }
}
