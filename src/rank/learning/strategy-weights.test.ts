import { describe, expect, test } from 'vitest';
import { ConfigurationError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { STRATEGY_WEIGHTS } from '../query/strategy.ts';
import { MEMORY_SIGNALS, type MemorySignals, scoreMemorySignals } from '../signals/memory-signals.ts';
import { learnStrategyWeights, type StrategyFeedback } from './strategy-weights.ts';

const STRATEGY = 'exploratory';
const weigh = (...values: number[]) =>
  Object.fromEntries(MEMORY_SIGNALS.map((name, i) => [name, values[i]])) as unknown as MemorySignals;
/** What two people care about, each another than the strategy does. */
const TRUTH = { ann: weigh(0.1, 0.05, 0.7, 0.1, 0.05), bo: weigh(0.1, 0.1, 0.05, 0.05, 0.7) };

/** Questions with eight memories, of which a person uses the one that is best by their own weights. */
function drawFeedback(user: keyof typeof TRUTH, count: number, seed: number): StrategyFeedback[] {
  const source = createRandom(seed, user);
  return Array.from({ length: count }, () => {
    const shown = Array.from({ length: 8 }, () => weigh(...MEMORY_SIGNALS.map(() => source.uniform())));
    const best = rank(shown, TRUTH[user])[0];
    return { user, strategy: STRATEGY, shown: shown.map((signals) => ({ signals, used: signals === best })) };
  });
}

const rank = (shown: readonly MemorySignals[], weights: MemorySignals) =>
  shown.toSorted((a, b) => scoreMemorySignals(b, weights, null) - scoreMemorySignals(a, weights, null));

/** The mean reciprocal rank of what was used. */
function measure(feedback: readonly StrategyFeedback[], weights: MemorySignals): number {
  const ranks = feedback.map(({ shown }) => {
    const used = shown.find((one) => one.used)?.signals as MemorySignals;
    return (
      1 /
      (1 +
        rank(
          shown.map(({ signals }) => signals),
          weights,
        ).indexOf(used))
    );
  });
  return ranks.reduce((sum, value) => sum + value, 0) / ranks.length;
}

describe('weights of users', () => {
  const feedback = [...drawFeedback('ann', 150, 1), ...drawFeedback('bo', 150, 1)];
  const learned = learnStrategyWeights(feedback);

  test.each(['ann', 'bo'] as const)(
    'find what %s uses in other questions better than those of the strategy',
    (user) => {
      const other = drawFeedback(user, 200, 2);
      const own = learned.get(user)?.[STRATEGY];
      expect(own).toMatchObject({ questions: 150, share: 0.75 });
      const weights = own?.weights as MemorySignals;
      expect(measure(other, weights)).toBeGreaterThan(measure(other, STRATEGY_WEIGHTS[STRATEGY]) + 0.15);
      expect(measure(other, weights)).toBeGreaterThan(0.85);
      expect(MEMORY_SIGNALS.reduce((sum, name) => sum + weights[name], 0)).toBeCloseTo(1, 9);
      const strangers = learned.get(user === 'ann' ? 'bo' : 'ann')?.[STRATEGY]?.weights as MemorySignals;
      expect(measure(other, weights)).toBeGreaterThan(measure(other, strangers) + 0.15);
    },
  );

  test('are exactly those of the strategy with too little feedback, or with none that tells', () => {
    const few = learnStrategyWeights(drawFeedback('ann', 9, 1)).get('ann')?.[STRATEGY];
    expect(few).toEqual({ weights: STRATEGY_WEIGHTS[STRATEGY], questions: 9, share: 0 });
    const silent = drawFeedback('ann', 40, 1).map((one) => ({
      ...one,
      shown: one.shown.map((of) => ({ ...of, used: false })),
    }));
    expect(learnStrategyWeights(silent).get('ann')?.[STRATEGY]).toEqual({ ...few, questions: 0 });
    expect(learnStrategyWeights([]).size).toBe(0);
    expect(learned.get('ann')?.procedural).toBeUndefined();
  });

  test('go from the strategy to what is learned with the number of questions', () => {
    const times = [20, 50, 150].map((count) => {
      const weights = learnStrategyWeights(drawFeedback('ann', count, 1)).get('ann')?.[STRATEGY]?.weights;
      return weights?.temporal_relevance as number;
    });
    expect(times[0]).toBeGreaterThan(STRATEGY_WEIGHTS[STRATEGY].temporal_relevance);
    expect(times.toSorted((a, b) => a - b)).toEqual(times);
    const alone = learnStrategyWeights(drawFeedback('ann', 150, 1), { kappa: 0 }).get('ann')?.[STRATEGY];
    expect(alone?.share).toBe(1);
    expect(alone?.weights.temporal_relevance).toBeGreaterThan(times[2] as number);
  });

  test('need options that can be', () => {
    expect(() => learnStrategyWeights(feedback, { kappa: -1 })).toThrow(ConfigurationError);
  });
});
