import { Corpus } from '../../src/model/turns/corpus.ts';
import { DAY_MILLISECONDS } from './retention.ts';

/** Noon of a day in 2024. */
export const computeNoon = (day: number) => Date.UTC(2024, 0, 1) + (day + 0.5) * DAY_MILLISECONDS;

/** Turns as [conversation, day]; each answers the one before it in its conversation. Ids are t00, t01, … */
export function buildDayCorpus(turns: readonly (readonly [string, number])[]): Corpus {
  const id = (i: number) => `t${String(i).padStart(2, '0')}`;
  return new Corpus(
    turns.map(([conversationId, day], i) => {
      const before = turns.slice(0, i).findLastIndex(([other]) => other === conversationId);
      const parentId = before < 0 ? null : id(before);
      return {
        id: id(i),
        conversationId,
        parentId,
        timestamp: computeNoon(day),
        author: null,
        channel: null,
        text: id(i),
      };
    }),
  );
}
