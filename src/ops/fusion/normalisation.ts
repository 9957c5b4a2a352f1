import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { Registry } from '../../core/validation/registry.ts';
import { findScoreRange, rankPresent } from './score-columns.ts';

/** How the scores of a list are made comparable before they are combined. */
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

/** Every normalisation: to add one takes its name and a member. Sources: lee1997combination, montague2001normalization. */
export const NORMALISATIONS = new Registry<NormalisationName, Normalisation>(
  [minMax, max, sum, zmuv, rank, borda, none],
  ({ name }) => name,
);

export const normalisationName = z.enum(NORMALISATIONS.names);

/** The normalisation of a known name. */
export function getNormalisation(name: NormalisationName): Normalisation {
  return NORMALISATIONS.find(name) as Normalisation;
}
