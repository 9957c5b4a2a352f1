import { Bm25Index } from '../../index/words/bm25.ts';
import { compareScored } from '../../model/turns/tie-rule.ts';
import type { ContextShares } from './budget.ts';
import { type ContextItem, readItemText } from './context-item.ts';

/** The words of a query and of items alike: stems without stop words. */
const WORDS = { k1: 1.2, b: 0.75, variant: 'lucene', dropStopWords: true, stem: true } as const;

/** Documents and memories in one order: each score is multiplied by the weight of its source. An item that both found is taken once, by its better score. */
export function mergeByWeight(
  documents: readonly ContextItem[],
  memories: readonly ContextItem[],
  weights: ContextShares,
): ContextItem[] {
  const weigh = (items: readonly ContextItem[], weight: number) =>
    items.map((item) => ({ ...item, score: item.score * weight }));
  const all = [...weigh(documents, weights.documents), ...weigh(memories, weights.memories)].sort(compareScored);
  const first = new Map<string, ContextItem>();
  for (const item of all) if (!first.has(item.id)) first.set(item.id, item);
  return [...first.values()];
}

/** [N] BM25 of items for a query, with the frequencies of words among these items. */
export async function scoreWords(query: string, items: readonly ContextItem[]): Promise<Float32Array> {
  if (items.length === 0) return new Float32Array(0);
  const index = new Bm25Index(
    items.map(({ id }) => id),
    items.map(readItemText),
    WORDS,
  );
  const batch = { texts: [query], vectors: new Float32Array(0), cutoffs: Int32Array.of(items.length) };
  return index.scorePairs(batch, Int32Array.from(items.keys()), items.length);
}

/** Items by their BM25 for a query; where it is equal, which it is for all without a word of the query, in their order before. */
export async function rerankByWords(query: string, items: readonly ContextItem[]): Promise<ContextItem[]> {
  const scores = await scoreWords(query, items);
  const order = [...items.keys()].sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b);
  return order.map((i) => ({ ...(items[i] as ContextItem), score: scores[i] as number }));
}
