import { z } from 'zod';
import { parse } from '../../core/validation/validation.ts';
import { STRATEGY_NAMES, STRATEGY_WEIGHTS } from '../../rank/query/strategy.ts';
import { computeMemorySignals, scoreMemorySignals } from '../../rank/signals/memory-signals.ts';
import { type GoldenCase, HOST, type Part, type Topic } from './topic.ts';

const signalsCase = z.looseObject({
  strategy: z.enum(STRATEGY_NAMES),
  now: z.number(),
  queryEntities: z.array(z.string()),
  window: z.strictObject({ start: z.number(), end: z.number() }).nullable(),
  candidates: z.array(
    z.strictObject({
      cosine: z.number(),
      entities: z.array(z.string()),
      createdAt: z.number(),
      importance: z.number(),
      useCount: z.number(),
      memoryType: z.string(),
    }),
  ),
});

/** The five signals of memories, and their scores under the four strategies. */
export const signals: Topic = {
  name: 'signals',
  compute(input: GoldenCase): readonly Part[] {
    const { strategy, now, queryEntities, window, candidates } = parse(signalsCase, input, input.name);
    const got = candidates.map((memory) => {
      const found = computeMemorySignals(memory, { now, entities: queryEntities, window });
      const { semantic_similarity: semantic, entity_overlap: entity, temporal_relevance: temporal } = found;
      return {
        signals: { semantic, entity, temporal, importance: found.importance, reinforcement: found.reinforcement },
        score: scoreMemorySignals(found, STRATEGY_WEIGHTS[strategy], memory.memoryType),
      };
    });
    return [{ at: 'candidates', expected: input.expected, got, tolerance: HOST }];
  },
};
