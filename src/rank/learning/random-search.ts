import { createRandom } from '../../core/numbers/random.ts';
import {
  drawAround,
  drawValues,
  Evaluations,
  type SearchObjective,
  type SearchOptions,
  type SearchResult,
} from './parameter-search.ts';
import { chooseParameterValues, listHandTunedValues, type Parametric } from './parameters.ts';

/**
 * Asks the objective about the hand-tuned values first, then in turn about values near them and about values from the whole range: of many numbers, draws from the
 * range alone hardly ever beat the start (bergstra2012random).
 */
export async function randomSearch(
  model: Parametric,
  objective: SearchObjective,
  { budget, seed }: SearchOptions,
): Promise<SearchResult> {
  const evaluations = new Evaluations(objective, budget);
  const stream = createRandom(seed, 'random search');
  await evaluations.ask(listHandTunedValues(model));
  while (!evaluations.isSpent) {
    const isNear = evaluations.count % 2 === 1;
    await evaluations.ask(
      isNear ? drawAround(model, stream) : chooseParameterValues(model, (spec) => drawValues(spec, stream)),
    );
  }
  return evaluations.summariseSearch();
}
