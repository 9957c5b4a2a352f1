import { createRandom, type Random } from '../../core/numbers/random.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { inventWords } from './invented-words.ts';
import { HANDBOOK_SENTENCES } from './shop-texts.ts';

/** A page of the handbook of a shop: the rules of one range of goods. */
export interface HandbookPage {
  readonly turnId: string;
  readonly range: string;
}

/** Sentences of a page besides its rule. */
const SENTENCES = 6;

function writePage(source: Random, range: string): string {
  const rule = `Goods of the range ${range} go back within ${3 + source.integer(40)} days.`;
  const sentences = source.shuffle<string>([...HANDBOOK_SENTENCES]).slice(0, SENTENCES);
  sentences.splice(source.integer(SENTENCES + 1), 0, rule);
  return sentences.join(' ');
}

/** Draws pages of some 70 words, documents that are older than every memory. No range has the name of a customer. @param taken words that name customers. */
export function drawHandbook(
  count: number,
  seed: number,
  time: number,
  taken: ReadonlySet<string>,
): { pages: HandbookPage[]; turns: Turn[] } {
  const source = createRandom(seed, 'shop handbook');
  const ranges = inventWords(seed, count + taken.size)
    .names.filter((name) => !taken.has(name))
    .slice(0, count);
  const pages = ranges.map((range, i) => ({ turnId: `page-${String(i).padStart(5, '0')}`, range }));
  const turns = pages.map(({ turnId, range }, i): Turn => {
    const fields = { id: turnId, conversationId: 'handbook', parentId: null, timestamp: time - count + i };
    return {
      ...fields,
      author: null,
      channel: null,
      text: writePage(source, range),
      attributes: { source: 'documents' },
    };
  });
  return { pages, turns };
}
