import { ValidationError } from '../../core/errors/errors.ts';

/** Expected values of a ranking with the turns on the topic at the top. */
export interface PlantedLevel {
  /** Recall of one relevant turn at 1: the share of queries whose first turn is relevant. */
  readonly first: number;
  /** Mean reciprocal rank. */
  readonly mrr: number;
}

/** What can be reached on planted conversations. */
export interface PlantedLevels {
  /** Similarity alone: the turns on the topic at the top in any order. */
  readonly chance: PlantedLevel;
  /** An observer who knows the dependency: the indicated turn first, then the others on the topic. No ranking has a higher expected value. */
  readonly ceiling: PlantedLevel;
}

/**
 * The expected values on planted conversations with m = `branching` turns on the topic: 1/m and H_m/m by chance, with H_m = 1 + 1/2 + … + 1/m, and
 * s + (1 - s) chance at strength s.
 *
 * @throws ValidationError for a branching that is no positive integer, and for a strength outside [0, 1].
 */
export function computePlantedLevels(branching: number, strength: number): PlantedLevels {
  if (!Number.isInteger(branching) || branching < 1)
    throw new ValidationError(`branching is no positive integer: ${branching}; pass the option of the dataset`, {
      branching,
    });
  if (!(strength >= 0 && strength <= 1))
    throw new ValidationError(`strength is outside [0, 1]: ${strength}; pass a number in [0, 1]`, { strength });
  const harmonic = Array.from({ length: branching }, (_, i) => 1 / (i + 1)).reduce((sum, term) => sum + term, 0);
  const chance = { first: 1 / branching, mrr: harmonic / branching };
  const raise = (level: number) => strength + (1 - strength) * level;
  return { chance, ceiling: { first: raise(chance.first), mrr: raise(chance.mrr) } };
}
