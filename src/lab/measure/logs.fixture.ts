import { createRandom } from '../../core/numbers/random.ts';
import type { LoggedChoice } from './counterfactual.ts';

const REWARDS = [
  [0.1, 0.3, 0.8],
  [0.7, 0.2, 0.4],
];
/** How two systems choose in each context. */
const LOGGING = [
  [0.6, 0.3, 0.1],
  [0.2, 0.2, 0.6],
];
const TARGET = [
  [0.1, 0.2, 0.7],
  [0.8, 0.1, 0.1],
];

const dot = (a: readonly number[], b: readonly number[]) => a.reduce((sum, x, i) => sum + x * (b[i] as number), 0);

/** The mean reward of the other system, with both contexts equally often. */
export const TRUTH = (dot(TARGET[0]!, REWARDS[0]!) + dot(TARGET[1]!, REWARDS[1]!)) / 2;
export const LOGGED_TRUTH = (dot(LOGGING[0]!, REWARDS[0]!) + dot(LOGGING[1]!, REWARDS[1]!)) / 2;

/** Choices of a system that explores, in clusters of 4, with rewards 0 and 1. The model is off by `bias`. */
export function drawLog(size: number, seed: number, bias = 0.1): LoggedChoice[] {
  const random = createRandom(seed, 'counterfactual-log');
  return Array.from({ length: size }, (_, i) => {
    const context = random.integer(2);
    const [logging, target, rewards] = [LOGGING[context]!, TARGET[context]!, REWARDS[context]!];
    const draw = random.uniform();
    const action = draw < logging[0]! ? 0 : draw < logging[0]! + logging[1]! ? 1 : 2;
    const model = rewards.map((reward) => reward + bias);
    return {
      cluster: `c${Math.floor(i / 4)}`,
      propensity: logging[action]!,
      target: target[action]!,
      reward: random.uniform() < rewards[action]! ? 1 : 0,
      expected: { logged: model[action]!, target: dot(target, model) },
    };
  });
}
