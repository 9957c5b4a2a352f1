/** The state of an optimisation by Adam. */
export interface AdamState {
  readonly step: number;
  /** [P] running means of the gradient and of its square. */
  readonly first: Float64Array;
  readonly second: Float64Array;
}

const FIRST_DECAY = 0.9;
const SECOND_DECAY = 0.999;
const EPSILON = 1e-8;

/** The state of Adam before the first step: step 0 and running means of 0. @param count the number P of free numbers. */
export function createAdamState(count: number): AdamState {
  return { step: 0, first: new Float64Array(count), second: new Float64Array(count) };
}

/**
 * One step of Adam (kingma2015adam, algorithm 1). On the host in float64: there are a few dozen numbers, and a state of plain numbers can be stored, so
 * that an interrupted training resumes to the same result.
 *
 * @param theta [P]
 * @param gradient [P]
 */
export function takeAdamStep(theta: Float64Array, gradient: Float64Array, state: AdamState, learningRate: number) {
  const step = state.step + 1;
  const first = state.first.map((mean, i) => FIRST_DECAY * mean + (1 - FIRST_DECAY) * gradient[i]!);
  const second = state.second.map((mean, i) => SECOND_DECAY * mean + (1 - SECOND_DECAY) * gradient[i]! ** 2);
  const firstScale = 1 / (1 - FIRST_DECAY ** step);
  const secondScale = 1 / (1 - SECOND_DECAY ** step);
  const next = theta.map(
    (x, i) => x - (learningRate * first[i]! * firstScale) / (Math.sqrt(second[i]! * secondScale) + EPSILON),
  );
  return { theta: next, state: { step, first, second } };
}
