import { type Estimate, groupIntoClusters, meanIntervals } from '../../src/eval/intervals/mean-intervals.ts';
import { detectUse, type UseDetectionOptions } from '../../src/memory/context/feedback/detect-use.ts';
import type { JudgedResponse } from './generated-responses.ts';

/** A response with the truth, and the group whose members are not independent. */
export interface ClusteredResponse extends Omit<JudgedResponse, 'used'> {
  readonly cluster: string;
  /** By the id of each memory that was used: how. */
  readonly used: ReadonlyMap<string, string>;
}

/** A memory that was shown for a response. */
interface Decision {
  readonly cluster: string;
  /** How it was used; null: not. */
  readonly style: string | null;
  readonly isDetected: boolean;
}

/** A share with its interval and the number of memories that it is of; null without any. */
export interface UseShare {
  readonly n: number;
  readonly share: Estimate;
}

/** How often detected use is use, and how often use is detected. */
export interface UseMeasures {
  readonly responses: number;
  readonly precision: UseShare | null;
  readonly recall: UseShare | null;
  readonly recallByStyle: Readonly<Record<string, UseShare | null>>;
  /** Of memories that were not used: how many are detected. */
  readonly falseAlarms: UseShare | null;
}

function decide(responses: readonly ClusteredResponse[], options: UseDetectionOptions): Decision[] {
  return responses.flatMap(({ cluster, used, ...answered }) =>
    detectUse(answered, options).map((use) => ({ cluster, style: used.get(use.id) ?? null, isDetected: use.used })),
  );
}

/** Measures the detection; intervals are over clusters. */
export function measureUse(
  responses: readonly ClusteredResponse[],
  options: UseDetectionOptions,
  { seed, samples }: { readonly seed: number; readonly samples: number },
): UseMeasures {
  const decisions = decide(responses, options);
  const share = (of: (decision: Decision) => boolean, holds: (decision: Decision) => boolean): UseShare | null => {
    const chosen = decisions.filter(of);
    if (chosen.length === 0) return null;
    const clusters = groupIntoClusters(chosen.map(({ cluster }) => cluster));
    const values = chosen.map((decision) => (holds(decision) ? 1 : 0));
    return { n: chosen.length, share: meanIntervals([values], clusters, { seed, samples })[0] as Estimate };
  };
  const isUsed = ({ style }: Decision) => style !== null;
  const isDetected = (decision: Decision) => decision.isDetected;
  const styles = [...new Set(decisions.flatMap(({ style }) => style ?? []))].sort();
  return {
    responses: responses.length,
    precision: share(isDetected, isUsed),
    recall: share(isUsed, isDetected),
    recallByStyle: Object.fromEntries(
      styles.map((style) => [style, share((decision) => decision.style === style, isDetected)]),
    ),
    falseAlarms: share((decision) => !isUsed(decision), isDetected),
  };
}

const GRID = { span: [3, 4, 5, 6], weight: [1, 1.5, 2, 3], share: [0.25, 0.34, 0.5, 0.67, 1] } as const;
/** Reinforcement by mistake is worse than none. */
const LEAST_PRECISION = 0.95;

/** The limits with the highest recall among those with a precision of at least .95, else with the highest precision; the strictest of equal ones. */
export function chooseLimits(responses: readonly ClusteredResponse[]): Required<UseDetectionOptions> {
  const rows = GRID.span.flatMap((span) =>
    GRID.weight.flatMap((weight) => GRID.share.map((share) => ({ span, weight, share }))),
  );
  const rated = rows.map((limits) => {
    const decisions = decide(responses, limits);
    const hits = decisions.filter(({ style, isDetected }) => style !== null && isDetected).length;
    const precision = hits / Math.max(1, decisions.filter(({ isDetected }) => isDetected).length);
    const isPrecise = precision >= LEAST_PRECISION;
    return { limits, value: isPrecise ? 1 + hits : precision };
  });
  return rated.reduce((best, row) => (row.value >= best.value ? row : best)).limits;
}
