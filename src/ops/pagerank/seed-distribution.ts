import { ValidationError } from '../../core/errors/errors.ts';
import type { TransitionMatrix } from './transition-matrix.ts';

/** The nodes at which the walks of a query start, with their weights. */
export type SeedSet = ReadonlyMap<string, number>;

/** A seed set whose weights sum to 1, zeros left out. */
export interface SeedDistribution {
  /** [S], ascending. */
  readonly positions: Int32Array;
  /** [S] */
  readonly shares: Float64Array;
}

/** @throws ValidationError naming the query for a seed that the graph lacks, a weight that is negative or not finite, and for no weight at all. */
export function buildSeedDistributions(matrix: TransitionMatrix, queries: readonly SeedSet[]): SeedDistribution[] {
  return queries.map((seeds, query) => normaliseQuerySeeds(matrix, seeds, query));
}

function normaliseQuerySeeds({ positionOf }: TransitionMatrix, seeds: SeedSet, query: number): SeedDistribution {
  const found: { position: number; weight: number }[] = [];
  for (const [id, weight] of seeds) {
    const position = positionOf.get(id);
    if (position === undefined)
      throw new ValidationError(`query ${query} has a seed that is not in the graph: ${id}; use ids of nodes`, {
        query,
        id,
      });
    if (!(weight >= 0 && weight < Number.POSITIVE_INFINITY)) {
      const message = `weight of seed ${id} of query ${query} is negative or not finite: ${weight}; pass a number from 0`;
      throw new ValidationError(message, { query, id, weight });
    }
    if (weight > 0) found.push({ position, weight });
  }
  found.sort((a, b) => a.position - b.position);
  const total = found.reduce((sum, { weight }) => sum + weight, 0);
  if (!(total > 0 && total < Number.POSITIVE_INFINITY))
    throw new ValidationError(
      `seed weights of query ${query} have no finite sum above 0: ${total}; give a seed a weight above 0`,
      { query, total },
    );
  return {
    positions: Int32Array.from(found, ({ position }) => position),
    shares: Float64Array.from(found, ({ weight }) => weight / total),
  };
}

/** Adds a mass to the nodes of a row, [V], in the shares of the seeds. */
export function placeSeeds({ positions, shares }: SeedDistribution, mass: number, row: Float64Array): void {
  for (let i = 0; i < positions.length; i++) row[positions[i]!]! += mass * shares[i]!;
}
