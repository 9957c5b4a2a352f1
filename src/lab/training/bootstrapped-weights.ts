import { quantile } from '../../core/numbers/distributions.ts';
import { createRandom } from '../../core/numbers/random.ts';
import type { HyperParameters } from '../../rank/learning/cross-validation.ts';
import { type FeatureTable, selectQueries } from '../../rank/learning/feature-table.ts';
import type { ScoringModel } from '../../rank/learning/model.ts';
import { train } from '../../rank/learning/training.ts';

/** Bounds of each number. [P] */
export interface ParameterBounds {
  readonly low: Float64Array;
  readonly high: Float64Array;
}

/** Rows of as many conversations as there are, drawn with replacement. */
function resampleRows({ clusters }: FeatureTable, stream: ReturnType<typeof createRandom>): Int32Array {
  const rowsOf = new Map<string, number[]>();
  for (const [row, cluster] of clusters.entries()) {
    const rows = rowsOf.get(cluster);
    if (rows === undefined) rowsOf.set(cluster, [row]);
    else rows.push(row);
  }
  const groups = [...rowsOf.values()];
  return Int32Array.from(groups.flatMap(() => groups[stream.integer(groups.length)] as number[]));
}

/**
 * Percentile intervals of learned numbers, from trainings on resampled conversations with the hyper-parameters and the number of epochs that were chosen.
 *
 * @param model with constant standardisation, so that one unit of a signal means the same in every resample
 */
export async function bootstrapWeights(
  model: ScoringModel,
  table: FeatureTable,
  point: HyperParameters,
  options: { readonly resamples: number; readonly level: number; readonly seed: number },
  onResample: (done: number) => void = () => {},
): Promise<ParameterBounds> {
  const stream = createRandom(options.seed, 'bootstrapped weights');
  const draws: Float64Array[] = [];
  for (let i = 0; i < options.resamples; i++) {
    const rows = selectQueries(table, resampleRows(table, stream));
    const { values } = await train(model, rows, null, { ...point, seed: options.seed });
    draws.push(values);
    onResample(i + 1);
  }
  const computeQuantiles = (share: number) =>
    (draws[0] as Float64Array).map((_, p) =>
      quantile(Float64Array.from(draws, (draw) => draw[p] as number).sort(), share),
    );
  const tail = (1 - options.level) / 2;
  return { low: computeQuantiles(tail), high: computeQuantiles(1 - tail) };
}
