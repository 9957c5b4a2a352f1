import { createRandom } from '../../src/core/numbers/random.ts';
import { getOrCompute } from '../../src/core/values/once.ts';
import type { Corpus } from '../../src/model/turns/corpus.ts';
import type { Turn } from '../../src/model/turns/turn.ts';

const DAY = 86_400_000;

/** Which entrances are measured. */
export interface EntranceOptions {
  readonly seed: number;
  /** A person enters a conversation by an answer to a message of the last days. */
  readonly days: number;
  /** Earlier turns of a person: entrances with fewer are left out, and of more the latest count. */
  readonly leastHistory: number;
  readonly mostHistory: number;
  /** True if only the first turns of conversations are candidates. */
  readonly openingsAlone: boolean;
  /** Whose earlier turns an author's are compared with, by the name of the null control: one of these people is drawn. */
  readonly controls: Readonly<Record<string, (author: string, other: string) => boolean>>;
}

/** The first turn of a person in a conversation that somebody else has begun. All are positions in the corpus. */
export interface Entrance {
  readonly position: number;
  readonly author: string;
  /** Messages that the person may answer: of the last days, in conversations without a turn of the person, in time order. */
  readonly candidates: Int32Array;
  /** The place of the message that was answered. */
  readonly answered: number;
  /** Earlier turns of the person, none of them in a conversation of a candidate. */
  readonly own: Int32Array;
  /** The same of another person, who is drawn, equally many: by the name of the control. */
  readonly others: Readonly<Record<string, Int32Array>>;
}

/** Earlier turns in conversations that have no candidate, the latest ones. */
function chooseHistory(positions: readonly number[], turns: readonly Turn[], taken: ReadonlySet<string>, most: number) {
  return positions.filter((position) => !taken.has((turns[position] as Turn).conversationId)).slice(-most);
}

/** The entrances of a corpus in time order, and how many were left out and why. */
export function findEntrances(corpus: Corpus, options: EntranceOptions) {
  const { turns } = corpus;
  const spoken = new Map<string, number[]>();
  const joined = new Map<string, Set<string>>();
  const entrances: Entrance[] = [];
  const left = { 'answers no candidate': 0, 'too few earlier turns': 0, 'nobody to compare with': 0 };
  for (const [position, turn] of turns.entries()) {
    const { author, conversationId, parentId, timestamp } = turn;
    if (author === null) continue;
    const conversations = getOrCompute(joined, author, () => new Set());
    const parent = parentId === null || conversations.has(conversationId) ? null : corpus.getTurn(parentId);
    if (parent !== null && parent.author !== author) {
      const from = turns.findIndex((other) => other.timestamp >= timestamp - options.days * DAY);
      const candidates: number[] = [];
      for (let message = from; (turns[message] as Turn).timestamp < timestamp; message++) {
        const { author: writer, conversationId: talk, parentId: answers } = turns[message] as Turn;
        const isOffered = answers === null || !options.openingsAlone;
        if (isOffered && writer !== author && !conversations.has(talk)) candidates.push(message);
      }
      const answered = candidates.findIndex((message) => turns[message] === parent);
      const taken = new Set(candidates.map((message) => (turns[message] as Turn).conversationId));
      const own = chooseHistory(spoken.get(author) ?? [], turns, taken, options.mostHistory);
      const others = Object.entries(options.controls).flatMap(([control, accepts]) => {
        const fellows = [...spoken].flatMap(([name, positions]) => {
          if (name === author || !accepts(author, name)) return [];
          const history = chooseHistory(positions, turns, taken, own.length);
          return history.length === own.length ? [history] : [];
        });
        if (fellows.length === 0) return [];
        const drawn = createRandom(options.seed, `fellow ${turn.id}`).integer(fellows.length);
        return [[control, Int32Array.from(fellows[drawn] as number[])] as const];
      });
      if (answered < 0) left['answers no candidate']++;
      else if (own.length < options.leastHistory) left['too few earlier turns']++;
      else if (others.length < Object.keys(options.controls).length) left['nobody to compare with']++;
      else
        entrances.push({
          ...{ position, author, answered },
          candidates: Int32Array.from(candidates),
          own: Int32Array.from(own),
          others: Object.fromEntries(others),
        });
    }
    getOrCompute(spoken, author, () => []).push(position);
    conversations.add(conversationId);
  }
  return { entrances, left };
}
