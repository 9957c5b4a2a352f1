import { DimensionMismatchError, ValidationError } from '../core/errors.ts';
import type { ArmResult, Comparison, DatasetSummary, ExperimentResult, Interval } from '../experiment/result.ts';

/**
 * What the page's script works on: turns once, everything else by position, a ranking as one flat array. -1 stands for nothing. Q queries, T turns.
 */
export interface Payload {
  readonly metrics: readonly string[];
  readonly relevantGrade: number;
  readonly gradeNames: Readonly<Record<number, string>>;
  /** Position of the baseline among the arms. */
  readonly baseline: number;
  readonly turns: TurnColumns;
  readonly queries: readonly QueryPayload[];
  readonly arms: readonly ArmPayload[];
}

/** [T] each. Authors, channels and conversations are positions in `names`. */
export interface TurnColumns {
  readonly names: readonly string[];
  readonly id: readonly string[];
  readonly conversation: readonly number[];
  readonly parent: readonly number[];
  readonly timestamp: readonly number[];
  readonly author: readonly number[];
  readonly channel: readonly number[];
  readonly text: readonly string[];
}

export interface QueryPayload {
  readonly id: string;
  readonly text: string;
  readonly timestamp: number;
  readonly author: string;
  readonly channel: string;
  /** Position of the turn that the query itself is. */
  readonly turn: number;
  /** Turn and grade in turn. */
  readonly judged: readonly number[];
  /** Judged turns that the page does not hold. */
  readonly judgedElsewhere: number;
}

export interface ArmPayload {
  readonly name: string;
  /** [mean, low, high] by metric. */
  readonly intervals: readonly (readonly number[])[];
  /** By metric. */
  readonly verdicts: readonly Comparison['verdict'][];
  /** [Q] by metric. */
  readonly perQuery: readonly (readonly number[])[];
  readonly components: readonly string[];
  /** [Q] of turn, score and components, one ranked turn after the other. */
  readonly rankings: readonly (readonly number[])[];
}

/** @throws ValidationError for a ranked turn that the dataset does not show; DimensionMismatchError where an arm's arrays do not fit the queries. */
export function payloadOf(result: ExperimentResult): Payload {
  const positions = new Map(result.dataset.turns.map((turn, at) => [turn.id, at]));
  return {
    metrics: result.metrics,
    relevantGrade: result.dataset.relevantGrade,
    gradeNames: result.dataset.gradeNames,
    baseline: result.arms.findIndex((arm) => arm.name === result.baseline),
    turns: turnColumns(result.dataset, positions),
    queries: result.queries.map(({ id, text, timestamp, author, channel, turnId, judgements }) => {
      const shown = Object.entries(judgements).filter(([turn]) => positions.has(turn));
      const judged = shown.flatMap(([turn, grade]) => [positions.get(turn) as number, grade]);
      const judgedElsewhere = Object.keys(judgements).length - shown.length;
      return {
        id,
        text,
        timestamp,
        author: author ?? '',
        channel: channel ?? '',
        turn: positions.get(turnId ?? '') ?? -1,
        judged,
        judgedElsewhere,
      };
    }),
    arms: result.arms.map((arm) => armPayload(arm, result, positions)),
  };
}

function turnColumns({ turns }: DatasetSummary, positions: ReadonlyMap<string, number>): TurnColumns {
  const names = new Map<string, number>();
  const nameOf = (name: string | null): number => {
    if (name === null) return -1;
    if (!names.has(name)) names.set(name, names.size);
    return names.get(name) as number;
  };
  const columns = {
    id: turns.map((turn) => turn.id),
    conversation: turns.map((turn) => nameOf(turn.conversationId)),
    parent: turns.map(({ parentId }) => (parentId === null ? -1 : (positions.get(parentId) ?? -1))),
    timestamp: turns.map((turn) => turn.timestamp),
    author: turns.map((turn) => nameOf(turn.author)),
    channel: turns.map((turn) => nameOf(turn.channel)),
    text: turns.map((turn) => turn.text),
  };
  return { names: [...names.keys()], ...columns };
}

function armPayload(arm: ArmResult, result: ExperimentResult, positions: ReadonlyMap<string, number>): ArmPayload {
  const { queries, metrics } = result;
  if (arm.rankings.length !== queries.length)
    throw new DimensionMismatchError(`rankings of arm ${arm.name}`, queries.length, arm.rankings.length);
  return {
    name: arm.name,
    intervals: metrics.map((metric) => {
      const { mean, low, high } = arm.metrics[metric] as Interval;
      return [mean, low, high].map(rounded);
    }),
    verdicts: metrics.map((metric) => arm.comparisons?.[metric]?.verdict ?? 'undecided'),
    perQuery: metrics.map((metric) => perQuery(arm, metric, queries.length)),
    components: arm.componentNames,
    rankings: arm.rankings.map((ranking) =>
      ranking.flatMap(({ id, score, components }) => {
        const turn = positions.get(id);
        if (turn === undefined)
          throw new ValidationError(`arm ${arm.name} ranks a turn that the dataset does not show: ${id}`);
        if (components.length !== arm.componentNames.length)
          throw new DimensionMismatchError(
            `components of ${id} in arm ${arm.name}`,
            arm.componentNames.length,
            components.length,
          );
        return [turn, rounded(score), ...components.map(rounded)];
      }),
    ),
  };
}

function perQuery(arm: ArmResult, metric: string, count: number): number[] {
  const values = arm.perQuery[metric] ?? [];
  if (values.length !== count)
    throw new DimensionMismatchError(`${metric} of arm ${arm.name}, values a query`, count, values.length);
  return values.map(rounded);
}

/** Five significant digits: more than the page shows, and half the bytes. */
function rounded(value: number): number {
  return Number(value.toPrecision(5));
}
