import type { TrainingInspection } from '../../training/training-result.ts';
import { inventResult } from '../page/invented-result.fixture.ts';

/** Rankings of two arms as those of the hand-tuned and the learned method of each model. */
export function inventInspection(
  seed: number,
  { queries: count, second }: { readonly queries: number; readonly second: boolean },
  metrics: readonly string[],
): TrainingInspection {
  const { queries, dataset, arms } = inventResult(seed, {
    arms: 2,
    threads: Math.ceil(count / 2),
    turnsAThread: 5,
    top: 5,
  });
  const methods = (second ? ['linear', 'trajectory'] : ['linear']).flatMap((model) =>
    ['hand-tuned', 'learned'].map((method, at) => ({
      model,
      method,
      perQuery: Object.fromEntries(
        metrics.map((metric) => [metric, arms[at]?.perQuery[metric]?.slice(0, count) ?? []]),
      ),
      contributionNames: model === 'linear' ? ['bm25', 'decay'] : ['relevance', 'fading'],
      rankings: (arms[at]?.rankings.slice(0, count) ?? []).map((ranking) =>
        ranking.map(({ id, score }) => ({
          id,
          score,
          components: [],
          contributions: [1.5 * score, -0.5 * score],
        })),
      ),
    })),
  );
  return { queries: queries.slice(0, count), turns: dataset.turns, methods };
}
