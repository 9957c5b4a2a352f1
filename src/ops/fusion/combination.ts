import { z } from 'zod';
import { getNormalisation, type NormalisationName, normalisationName } from './normalisation.ts';
import { assertColumns, type FusionDefinition, markHeld, type ScoreColumns } from './score-columns.ts';

/** Of every fusion that combines scores. */
export const combinationOptions = {
  /** Puts the scores of the sources on one scale. */
  normalisation: normalisationName.default('min-max'),
};

const buildOptions = <const Name extends string>(method: Name) =>
  z.strictObject({ method: z.literal(method), ...combinationOptions });

export const combSumOptions = buildOptions('combsum');
const combMnzOptions = buildOptions('combmnz');
const combMaxOptions = buildOptions('combmax');
const combMinOptions = buildOptions('combmin');
const combMedOptions = buildOptions('combmed');
const combAnzOptions = buildOptions('combanz');
const combGmnzOptions = buildOptions('combgmnz').extend({
  /** The power of the number of sources: 0 is CombSUM, 1 CombMNZ. */
  gamma: z.number().default(1),
});

interface CombinationOptions {
  readonly normalisation: NormalisationName;
}

/** A present score and the number of its source. */
export interface SourceScore {
  readonly score: number;
  readonly source: number;
}

/**
 * Normalises each source's scores and combines those of each candidate; a candidate that no source returned has 0. O(S C log C).
 *
 * @param combine receives the scores of the sources that hold the candidate, at least one, in the order of the sources.
 * @returns [C] fused scores.
 * @throws ValidationError without a source, DimensionMismatchError, NotFiniteError.
 */
export function combineScores(
  columns: ScoreColumns,
  normalisation: NormalisationName,
  combine: (scores: readonly SourceScore[]) => number,
): Float64Array {
  const fused = new Float64Array(assertColumns(columns));
  const held = markHeld(columns);
  const normalised = Object.values(columns).map((column) => getNormalisation(normalisation).apply(column, held));
  for (const c of fused.keys()) {
    const scores: SourceScore[] = [];
    for (const [source, column] of normalised.entries()) {
      const score = column[c] as number;
      if (!Number.isNaN(score)) scores.push({ score, source });
    }
    if (scores.length > 0) fused[c] = combine(scores);
  }
  return fused;
}

function sumScores(scores: readonly SourceScore[]): number {
  return scores.reduce((total, { score }) => total + score, 0);
}

function findMedian(scores: readonly SourceScore[]): number {
  const sorted = Float64Array.from(scores, ({ score }) => score).sort();
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}

/**
 * CombSUM: sum over the sources of the normalised scores. By default (s - min) / (max - min), the extremes being those of the source's list for this query. A
 * list with one distinct score then normalises to 1; an absent candidate adds 0, as the last of a longer list does.
 *
 * @returns [C] fused scores.
 * @throws as {@link combineScores} does. Source: fox1994combination.
 */
export function combSum(columns: ScoreColumns, options: CombinationOptions = { normalisation: 'min-max' }) {
  return combineScores(columns, options.normalisation, sumScores);
}

/**
 * CombMNZ: CombSUM times the number of sources that returned the candidate.
 *
 * @returns [C] fused scores.
 * @throws as {@link combineScores} does. Source: fox1994combination.
 */
export function combMnz(columns: ScoreColumns, options: CombinationOptions = { normalisation: 'min-max' }) {
  return combineScores(columns, options.normalisation, (scores) => sumScores(scores) * scores.length);
}

export const combSumFusion: FusionDefinition<typeof combSumOptions> = {
  options: combSumOptions,
  description: 'normalised scores, summed over the sources',
  fuse: combSum,
};

export const combMnzFusion: FusionDefinition<typeof combMnzOptions> = {
  options: combMnzOptions,
  description: 'CombSUM times the number of sources that returned the candidate',
  fuse: combMnz,
};

/** Source: fox1994combination. */
export const combMaxFusion: FusionDefinition<typeof combMaxOptions> = {
  options: combMaxOptions,
  description: 'the largest normalised score of the sources that returned the candidate',
  fuse: (columns, { normalisation }) =>
    combineScores(columns, normalisation, (scores) => Math.max(...scores.map(({ score }) => score))),
};

/** Source: fox1994combination. */
export const combMinFusion: FusionDefinition<typeof combMinOptions> = {
  options: combMinOptions,
  description: 'the smallest normalised score of the sources that returned the candidate',
  fuse: (columns, { normalisation }) =>
    combineScores(columns, normalisation, (scores) => Math.min(...scores.map(({ score }) => score))),
};

/** Source: fox1994combination. */
export const combMedFusion: FusionDefinition<typeof combMedOptions> = {
  options: combMedOptions,
  description: 'the median normalised score of the sources that returned the candidate',
  fuse: (columns, { normalisation }) => combineScores(columns, normalisation, findMedian),
};

/** Source: fox1994combination. */
export const combAnzFusion: FusionDefinition<typeof combAnzOptions> = {
  options: combAnzOptions,
  description: 'CombSUM divided by the number of sources that returned the candidate',
  fuse: (columns, { normalisation }) =>
    combineScores(columns, normalisation, (scores) => sumScores(scores) / scores.length),
};

/** Source: lee1997combination. */
export const combGmnzFusion: FusionDefinition<typeof combGmnzOptions> = {
  options: combGmnzOptions,
  description: 'CombSUM times a power of the number of sources that returned the candidate',
  fuse: (columns, { normalisation, gamma }) =>
    combineScores(columns, normalisation, (scores) => sumScores(scores) * scores.length ** gamma),
};
