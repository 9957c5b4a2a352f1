import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { Registry } from '../../core/validation/registry.ts';
import {
  assertColumns,
  type FusionDefinition,
  findScoreRange,
  markHeld,
  rankPresent,
  type ScoreColumns,
} from './score-columns.ts';

/** The ways to make the scores of a list comparable before they are combined. */
export type NormalisationName = 'min-max' | 'max' | 'sum' | 'zmuv' | 'rank' | 'borda' | 'none';

/** Puts the scores of one list on a scale that other lists share. */
export interface Normalisation {
  readonly name: NormalisationName;
  /** One line for people. */
  readonly description: string;
  /**
   * @param column [C] the scores of one source, NaN where the source did not return the candidate.
   * @param held [C] 1 where any source returned the candidate.
   * @returns [C] normalised scores, NaN where the source adds nothing to the candidate.
   */
  apply(column: Float64Array, held: Uint8Array): Float64Array;
}

/** The present scores alone, in the order of the candidates. */
function listPresent(column: Float64Array): Float64Array {
  return column.filter((score) => !Number.isNaN(score));
}

/** A list with one distinct score normalises to `equal`: the formula divides by zero. */
function scaleOr(equal: number, column: Float64Array, low: number, width: number): Float64Array {
  return column.map((score) => (width > 0 || Number.isNaN(score) ? (score - low) / width : equal));
}

const minMax: Normalisation = {
  name: 'min-max',
  description: '(s − min) / (max − min) of the list; 1 if all scores of the list are equal',
  apply(column) {
    const { low, high } = findScoreRange(column);
    return scaleOr(1, column, low, high - low);
  },
};

const max: Normalisation = {
  name: 'max',
  description: 's / max of the list; for scores from 0',
  apply(column) {
    const { low, high } = findScoreRange(column);
    if (low < 0 && high <= 0)
      throw new ValidationError(
        `normalisation max divides by the largest score of the list, which is not above 0: ${high}; use min-max`,
        { high },
      );
    return column.map((score) => (high > 0 ? score / high : score));
  },
};

const sum: Normalisation = {
  name: 'sum',
  description: '(s − min) / Σ (s − min) of the list; 1 / length if all scores of the list are equal',
  apply(column) {
    const { low } = findScoreRange(column);
    const present = listPresent(column);
    const total = present.reduce((sumSoFar, score) => sumSoFar + score - low, 0);
    return scaleOr(1 / present.length, column, low, total);
  },
};

const zmuv: Normalisation = {
  name: 'zmuv',
  description: '(s − mean) / standard deviation of the list; 0 if all scores of the list are equal',
  apply(column) {
    const present = listPresent(column);
    const mean = present.reduce((total, score) => total + score, 0) / present.length;
    const variance = present.reduce((total, score) => total + (score - mean) ** 2, 0) / present.length;
    const { low, high } = findScoreRange(column);
    return scaleOr(0, column, mean, high > low ? Math.sqrt(variance) : 0);
  },
};

const rank: Normalisation = {
  name: 'rank',
  description: '1 − (rank − 1) / length of the list',
  apply(column) {
    const ranked = rankPresent(column);
    const normalised = new Float64Array(column.length).fill(Number.NaN);
    for (const [above, c] of ranked.entries()) normalised[c] = 1 - above / ranked.length;
    return normalised;
  },
};

const borda: Normalisation = {
  name: 'borda',
  description:
    '1 − (rank − 1) / C, C being the candidates of all lists; a candidate that the list lacks has the mean of the ranks left',
  apply(column, held) {
    const ranked = rankPresent(column);
    const candidates = held.reduce((total, one) => total + one, 0);
    const rest = 0.5 - (ranked.length - 1) / (2 * candidates);
    const normalised = Float64Array.from(held, (one) => (one === 1 ? rest : Number.NaN));
    for (const [above, c] of ranked.entries()) normalised[c] = 1 - above / candidates;
    return normalised;
  },
};

const none: Normalisation = {
  name: 'none',
  description: 'the scores as they are, for sources on one scale',
  apply: (column) => column,
};

/**
 * Every normalisation: to add one takes its name and a member. Sources: lee1997combination, montague2001normalization.
 */
export const NORMALISATIONS = new Registry<NormalisationName, Normalisation>([
  minMax,
  max,
  sum,
  zmuv,
  rank,
  borda,
  none,
]);

const normalisationName = z.enum(NORMALISATIONS.names);

/** The normalisation of a known name. */
export function getNormalisation(name: NormalisationName): Normalisation {
  return NORMALISATIONS.find(name) as Normalisation;
}

/** Of every fusion that combines scores. */
export const combinationOptions = {
  /** Puts the scores of the sources on one scale. */
  normalisation: normalisationName.default('min-max'),
};

export const combSumOptions = z.strictObject({ method: z.literal('combsum'), ...combinationOptions });
const combMnzOptions = z.strictObject({ method: z.literal('combmnz'), ...combinationOptions });
const combMaxOptions = z.strictObject({ method: z.literal('combmax'), ...combinationOptions });
const combMinOptions = z.strictObject({ method: z.literal('combmin'), ...combinationOptions });
const combMedOptions = z.strictObject({ method: z.literal('combmed'), ...combinationOptions });
const combAnzOptions = z.strictObject({ method: z.literal('combanz'), ...combinationOptions });
const combGmnzOptions = z.strictObject({
  method: z.literal('combgmnz'),
  ...combinationOptions,
  /** The power of the number of sources: 0 is CombSUM, 1 CombMNZ. */
  gamma: z.number().default(1),
});

interface CombinationOptions {
  readonly normalisation: NormalisationName;
}

/**
 * Normalises each source's scores and combines those of each candidate; a candidate that no source returned has 0. O(S C log C).
 *
 * @param combine receives the scores of the sources that hold the candidate, at least one, in the order of the sources,
 *   and the numbers of these sources; both arrays are used again for the next candidate.
 * @returns [C] fused scores.
 * @throws ValidationError without a source, DimensionMismatchError, NotFiniteError.
 */
export function combineScores(
  columns: ScoreColumns,
  normalisation: NormalisationName,
  combine: (scores: readonly number[], sources: readonly number[]) => number,
): Float64Array {
  const fused = new Float64Array(assertColumns(columns));
  const held = markHeld(columns);
  const normalised = Object.values(columns).map((column) => getNormalisation(normalisation).apply(column, held));
  const scores: number[] = [];
  const sources: number[] = [];
  for (let c = 0; c < fused.length; c++) {
    scores.length = 0;
    sources.length = 0;
    for (let source = 0; source < normalised.length; source++) {
      const score = (normalised[source] as Float64Array)[c] as number;
      if (Number.isNaN(score)) continue;
      scores.push(score);
      sources.push(source);
    }
    if (scores.length > 0) fused[c] = combine(scores, sources);
  }
  return fused;
}

export function sumScores(scores: readonly number[]): number {
  return scores.reduce((total, score) => total + score, 0);
}

function findMedian(scores: readonly number[]): number {
  const sorted = Float64Array.from(scores).sort();
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
  fuse: (columns, { normalisation }) => combineScores(columns, normalisation, (scores) => Math.max(...scores)),
};

/** Source: fox1994combination. */
export const combMinFusion: FusionDefinition<typeof combMinOptions> = {
  options: combMinOptions,
  description: 'the smallest normalised score of the sources that returned the candidate',
  fuse: (columns, { normalisation }) => combineScores(columns, normalisation, (scores) => Math.min(...scores)),
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
