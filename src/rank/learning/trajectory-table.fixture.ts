import { createRandom } from '../../core/numbers/random.ts';
import type { Dimensions } from '../../ops/trajectory/coordinate-names.ts';
import { drawHandmadeTable } from './feature-table.fixture.ts';
import type { FeatureTable } from './feature-table.ts';
import { listTrajectorySignals, TURNS_AHEAD } from './model.ts';

/** A table with the signals of the trajectory model, each with numbers that it may have; the last candidates of every other row are padding. */
export function drawTrajectoryTable(
  queries: number,
  candidates: number,
  dimensions: Dimensions,
  seed: number,
): FeatureTable {
  const signals = listTrajectorySignals(dimensions);
  const table = drawHandmadeTable({ queries, candidates, clusters: 3, signals, seed });
  const stream = createRandom(seed, 'handmade trajectory table');
  const mask = table.mask.map((_, pair) =>
    Number(Math.floor(pair / candidates) % 2 === 0 || pair % candidates < candidates - 2),
  );
  const values = new Float32Array(table.values.length);
  for (const [pair, bit] of mask.entries()) {
    if (bit === 0) continue;
    const ahead = stream.integer(2 * TURNS_AHEAD);
    const before = stream.integer(11);
    const drawn: Record<string, number> = {
      'age.hours': 30 * stream.uniform() + 1,
      cosine: 2 * stream.uniform() - 1,
      'ring.distance': Math.min(ahead + 1, before + 1), // the query stands right after the turns ahead, and before the first
      'cold-start': Number(stream.uniform() < 0.3),
      'ahead.count': ahead,
    };
    for (const [f, name] of signals.entries()) {
      const [kind, number] = name.split(':');
      const beyond = kind === 'ahead' && Number(number) > ahead;
      const isSigned = kind === 'coordinate' || kind === 'ahead';
      const value = drawn[name] ?? (isSigned ? 2 * stream.uniform() - 1 : stream.uniform());
      values[pair * signals.length + f] = beyond ? 0 : value;
    }
  }
  return { ...table, values, mask, grades: table.grades.map((grade, pair) => grade * mask[pair]!) };
}
