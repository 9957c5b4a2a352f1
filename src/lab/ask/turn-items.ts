import type { ContextItem } from '../../memory/context/context-item.ts';
import { describeTurn } from '../../memory/context/turn-item.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import { compareScored } from '../../model/turns/tie-rule.ts';
import type { Turn } from '../../model/turns/turn.ts';
import type { ArmRecord } from '../run/arm-record.ts';

/** A turn of a ranking as an item of a context. */
export interface RankedItem extends ContextItem {
  /** The parts of the score by name. */
  readonly parts: Readonly<Record<string, number>>;
}

/** The turns of one ranking of a record, best first. */
function listItems({ turns }: Corpus, record: ArmRecord, query: number): RankedItem[] {
  const { depth, positions, scores, components, componentNames, inspected } = record;
  const items: RankedItem[] = [];
  for (let place = 0; place < depth; place++) {
    const position = positions[query * depth + place] as number;
    if (position < 0) break;
    const row = (query * inspected + place) * componentNames.length;
    const item = describeTurn(turns[position] as Turn, scores[query * depth + place] as number);
    items.push({
      ...item,
      parts: Object.fromEntries(componentNames.map((name, i) => [name, components[row + i] as number])),
    });
  }
  return items;
}

/** The ranking of a question: of two queries, the documents of the first and the memories of the second, which is that of the session. */
export function listRanking(corpus: Corpus, record: ArmRecord, session: string | null): RankedItem[] {
  const found = listItems(corpus, record, 0);
  if (session === null) return found;
  const isDocument = ({ memoryType }: ContextItem) => memoryType === 'document';
  const memories = listItems(corpus, record, 1).filter((item) => !isDocument(item));
  return [...found.filter(isDocument), ...memories].sort(compareScored);
}
