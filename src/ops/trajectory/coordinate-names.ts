import { ValidationError } from '../../core/errors/errors.ts';
import { freezeDeeply } from '../../core/values/once.ts';

/** A coordinate of a turn in its conversation. */
export type CoordinateName =
  | 'depth'
  | 'siblingOrder'
  | 'homogeneity'
  | 'temporal'
  | 'complexity'
  | 'branchFactor'
  | 'childrenCount';

/** The number of coordinates: 3 or 5 as in the paper, 7 with branch factor and children count. */
export type Dimensions = 3 | 5 | 7;

/** `raw` is the number of components itself, unbounded; `log` is ln c / ln(max c), in [0, 1] as the other coordinates. */
export type ComplexityScale = 'raw' | 'log';

/** The coordinates of each system, in the order in which tensors hold them. */
export const COORDINATES: Readonly<Record<Dimensions, readonly CoordinateName[]>> = freezeDeeply({
  3: ['depth', 'temporal', 'homogeneity'],
  5: ['depth', 'siblingOrder', 'homogeneity', 'temporal', 'complexity'],
  7: ['depth', 'siblingOrder', 'homogeneity', 'temporal', 'complexity', 'branchFactor', 'childrenCount'],
});

/** The weight of each coordinate in a distance; one that is missing has its default. */
export type CoordinateWeights = Readonly<Partial<Record<CoordinateName, number>>>;

/** The weight of each coordinate in a trajectory distance where none is written. */
export const DEFAULT_WEIGHTS: Readonly<Record<CoordinateName, number>> = freezeDeeply({
  depth: 1.0,
  siblingOrder: 0.5,
  homogeneity: 1.2,
  temporal: 0.8,
  complexity: 0.3,
  branchFactor: 0.4,
  childrenCount: 0.4,
});

/**
 * @returns the weights in the order of `COORDINATES[dimensions]`, defaults for missing ones.
 * @throws ValidationError for a weight that is negative or not finite.
 */
export function listCoordinateWeights(dimensions: Dimensions, weights: CoordinateWeights = {}): Float32Array {
  return Float32Array.from(COORDINATES[dimensions], (name) => {
    const weight = weights[name] ?? DEFAULT_WEIGHTS[name];
    if (!(weight >= 0 && Number.isFinite(weight)))
      throw new ValidationError(
        `coordinate weight ${name} is negative or not finite: ${weight}; pass a number from 0`,
        {
          name,
          weight,
        },
      );
    return weight;
  });
}
