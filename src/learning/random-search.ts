import { random } from '../core/random.ts';
import {
  drawValues,
  Evaluations,
  type SearchObjective,
  type SearchOptions,
  type SearchResult,
} from './parameter-search.ts';
import { handTunedValues, type Parametric, parameterValues } from './parameters.ts';

/** Asks the objective about values drawn at random, and about the hand-tuned ones first. */
export async function randomSearch(
  model: Parametric,
  objective: SearchObjective,
  { budget, seed }: SearchOptions,
): Promise<SearchResult> {
  const evaluations = new Evaluations(objective, budget);
  const stream = random(seed, 'random search');
  await evaluations.ask(handTunedValues(model));
  while (!evaluations.isSpent) await evaluations.ask(parameterValues(model, (spec) => drawValues(spec, stream)));
  return evaluations.result();
}
