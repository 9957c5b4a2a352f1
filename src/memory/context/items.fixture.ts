import type { ContextItem, CountedItem } from './source.ts';

/** An item of 25 tokens by a quarter of its characters, of one session. */
export function makeItem(id: string, changes: Partial<ContextItem> = {}): ContextItem {
  return {
    ...{ id, text: `${id} `.padEnd(100, 'x'), score: 1, timestamp: 0, memoryType: 'episodic' },
    ...{ source: 'memory:s1', session: 's1' },
    ...changes,
  };
}

export const countItem = (id: string, tokens: number, changes: Partial<ContextItem> = {}): CountedItem => ({
  ...makeItem(id, changes),
  tokens,
});
