import { computeHash } from '../../core/hash/hash.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';

/** What a slice depends on, turn by turn. */
function listWalked({ id, conversationId, parentId, timestamp, author, channel, attributes }: Turn): unknown[] {
  return [id, conversationId, parentId, timestamp, author, channel, attributes?.phase, attributes?.references];
}

/** The identity of everything that slices of a corpus depend on: texts do not count, one more turn does. 16 hex digits. */
export function computeCorpusVersion({ turns }: Pick<Corpus, 'turns'>): string {
  return computeHash(turns.map(listWalked)).slice(0, 16);
}
