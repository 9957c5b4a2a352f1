import { join } from 'node:path';
import { getOrCompute } from '../../src/core/values/once.ts';
import { loadDataset } from '../../src/data/registry.ts';
import { Corpus } from '../../src/model/turns/corpus.ts';
import type { Turn } from '../../src/model/turns/turn.ts';
import type { StudyContext } from '../study.ts';

/** A text without names and their beginnings, such as `Mel` of Melanie; a text of nothing else is a dash. */
function removeNames(text: string, names: Iterable<string>): string {
  const list = [...names];
  const isName = (word: string) => word.length > 1 && list.some((name) => name.startsWith(word));
  return text.replace(/\p{Lu}\p{L}+/gu, (word) => (isName(word) ? '' : word)).trim() || '-';
}

/**
 * Makes every session a conversation of its own. Times count from the first turn of the conversation that the session is of: sessions of different years
 * compete for a speaker as if all conversations had begun together. The names of both speakers are taken out of the texts: "Hey Mel!" would tell whom a message is
 * for.
 *
 * @returns the sessions, and the conversation of each speaker: a name is a speaker of its own in each conversation.
 */
export function splitIntoSessions(turns: readonly Turn[]) {
  const begins = new Map<string, number>();
  const conversationOf = new Map<string | null, string>();
  const sessions = new Map(turns.map(({ id, channel }) => [id, channel]));
  const names = new Map<string, Set<string>>();
  for (const { conversationId, author } of turns)
    for (const word of author?.split(/\s+/) ?? []) getOrCompute(names, conversationId, () => new Set()).add(word);
  const split = turns.map((turn): Turn => {
    const { conversationId, parentId, channel, timestamp } = turn;
    const author = `${conversationId}/${turn.author}`;
    conversationOf.set(author, conversationId);
    const begin = getOrCompute(begins, conversationId, () => timestamp); // turns are in time order
    const isOpening = parentId === null || sessions.get(parentId) !== channel;
    return {
      ...{
        ...turn,
        author,
        text: removeNames(turn.text, names.get(conversationId) ?? []),
        timestamp: timestamp - begin,
      },
      ...{ conversationId: channel as string, parentId: isOpening ? null : parentId },
    };
  });
  return { corpus: new Corpus(split), conversationOf };
}

/** The sessions of LoCoMo. @throws what the dataset `locomo` throws, for a file that is missing or has another format. */
export async function loadSessions(path: string, { cacheFolder, progress }: StudyContext) {
  const folder = join(cacheFolder, 'datasets');
  const { corpus, hash } = await loadDataset({ name: 'locomo', path }, { cacheFolder: folder, progress });
  return { ...splitIntoSessions(corpus.turns), hash };
}
