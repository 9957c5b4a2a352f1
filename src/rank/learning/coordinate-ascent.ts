import { createRandom, type Random } from '../../core/numbers/random.ts';
import {
  drawValues,
  Evaluations,
  type SearchObjective,
  type SearchOptions,
  type SearchResult,
} from './parameter-search.ts';
import {
  chooseParameterValues,
  constrainValues,
  freeValues,
  listHandTunedValues,
  type Parametric,
  splitParameters,
} from './parameters.ts';

/** The first step along a coordinate as a share of its number, and the least first step. */
const FIRST_STEP = 0.05;
const STEPS = 9;
const TOLERANCE = 1e-9;

/** Whether positive numbers are within the range of the searches: a temperature near 0 gives scores that are not finite. */
function isWithinReach(model: Parametric, values: Float64Array): boolean {
  return [...splitParameters(model, values)].every(
    ([{ constraint, range, initial }, part]) =>
      constraint !== 'positive' ||
      part.every((value, i) => value <= range[1] && value >= Math.min(range[0], initial[i] as number)),
  );
}

/** The best of the points along one coordinate, in both directions, steps doubling. */
async function searchCoordinate(
  model: Parametric,
  evaluations: Evaluations,
  theta: Float64Array,
  at: number,
  value: number,
) {
  const origin = theta[at] as number;
  const first = FIRST_STEP * Math.max(Math.abs(origin), 1);
  let best = { theta, value };
  for (const direction of [1, -1]) {
    for (let k = 0; k < STEPS && !evaluations.isSpent; k++) {
      const moved = theta.with(at, origin + direction * first * 2 ** k);
      const values = constrainValues(model, moved);
      if (!isWithinReach(model, values)) break; // longer steps lead further away
      const found = await evaluations.ask(values);
      if (found > best.value + TOLERANCE) best = { theta: moved, value: found };
    }
  }
  return best;
}

/** Goes from one start to a point that no single coordinate improves. */
async function climb(model: Parametric, evaluations: Evaluations, start: Float64Array, stream: Random): Promise<void> {
  let theta = freeValues(model, start);
  let value = await evaluations.ask(constrainValues(model, theta));
  for (let isBetter = true; isBetter && !evaluations.isSpent; ) {
    isBetter = false;
    for (const at of stream.shuffle([...theta.keys()])) {
      const best = await searchCoordinate(model, evaluations, theta, at, value);
      isBetter ||= best.value > value;
      ({ theta, value } = best);
    }
  }
}

/**
 * Coordinate ascent on the metric itself (metzler2007linear), over the free numbers: one after the other in random order is moved to the best of doubling steps until
 * none improves, from the hand-tuned values, then from random ones for as long as the budget lasts.
 */
export async function coordinateAscent(
  model: Parametric,
  objective: SearchObjective,
  { budget, seed }: SearchOptions,
): Promise<SearchResult> {
  const evaluations = new Evaluations(objective, budget);
  const stream = createRandom(seed, 'coordinate ascent');
  await climb(model, evaluations, listHandTunedValues(model), stream);
  while (!evaluations.isSpent)
    await climb(
      model,
      evaluations,
      chooseParameterValues(model, (spec) => drawValues(spec, stream)),
      stream,
    );
  return evaluations.summariseSearch();
}
