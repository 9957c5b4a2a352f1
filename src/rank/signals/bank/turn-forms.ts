import { createEventBreaks } from '../../../core/terminal/progress.ts';
import { findEntities } from '../../../model/text/entities.ts';
import { countTimeExpressions } from '../../../model/text/times/time-expressions.ts';
import { createTokeniser } from '../../../model/text/tokens.ts';
import type { Corpus } from '../../../model/turns/corpus.ts';
import { findNeighbour, type Sessions } from '../../../model/turns/sessions.ts';
import type { Turn } from '../../../model/turns/turn.ts';

/** Words of a text that could be a name; an inner full stop or hyphen is part of one, as in the nicknames of chats. */
const NAME = /[\p{L}\p{N}_](?:[\p{L}\p{N}_.|^\\`[\]{}-]*[\p{L}\p{N}_|^`\]}])?/gu;
const NAME_OR_POSSESSIVE = new RegExp(`${NAME.source}(?:['’]s)?`, 'gu');

/** The words that a text may name somebody with, lower-case. */
export function listNameWords(text: string): Set<string> {
  return new Set(text.toLowerCase().match(NAME));
}

/** The names of an author, lower-case: the name and the first word of it. */
export function listCallNames(author: string): string[] {
  const whole = author.toLowerCase();
  const [first] = whole.split(/\s+/u);
  return first === undefined || first === whole ? [whole] : [whole, first];
}

interface Author {
  readonly name: string;
  /** Position of the first turn. */
  readonly first: number;
  readonly calledBy: readonly string[];
}

/** The authors who had spoken at a moment, and their names. */
export class AuthorNames {
  /** In the order in which they first spoke. */
  readonly #authors: readonly Author[];
  /** By what authors are called by, the least position at which one of them spoke. */
  readonly #calledFrom = new Map<string, number>();

  /** @param turns in time order. */
  constructor(turns: readonly Turn[]) {
    const firsts = new Map<string, number>();
    for (const [position, { author }] of turns.entries())
      if (author !== null && !firsts.has(author)) firsts.set(author, position);
    this.#authors = Array.from(firsts, ([name, first]) => ({ name, first, calledBy: listCallNames(name) }));
    for (const { first, calledBy } of this.#authors)
      for (const name of calledBy) if (!this.#calledFrom.has(name)) this.#calledFrom.set(name, first);
  }

  /** The authors whom a text names, of those who spoke before the cutoff. */
  findNamedAuthors(text: string, cutoff: number): Set<string> {
    const words = listNameWords(text);
    const isNamed = ({ first, calledBy }: Author) => first < cutoff && calledBy.some((name) => words.has(name));
    return new Set(this.#authors.filter(isNamed).map(({ name }) => name));
  }

  /** A text without the words that are names of authors who spoke before the cutoff. */
  without(text: string, cutoff: number): string {
    if (this.#authors.length === 0) return text;
    return text.replace(NAME_OR_POSSESSIVE, (word) => {
      const from = this.#calledFrom.get(word.toLowerCase().replace(/['’]s$/u, ''));
      return from !== undefined && from < cutoff ? ' ' : word;
    });
  }
}

/** The query-independent features of each turn. [N] each. */
export interface TurnForms {
  /** ln(1 + words). */
  readonly length: Float32Array;
  /** 1 where it asks. */
  readonly question: Float32Array;
  /** 1 where the turn before it in its session asks; where authors may be looked at, only if that is somebody else's. */
  readonly answer: Float32Array;
  /** 1 where it holds a digit. */
  readonly number: Float32Array;
  /** ln(1 + time expressions). */
  readonly times: Float32Array;
  /** ln(1 + named things). */
  readonly names: Float32Array;
  readonly entities: readonly ReadonlySet<string>[];
}

/** Features that need the turn alone. */
const COLUMNS = ['length', 'question', 'number', 'times', 'names'] as const;

/**
 * @param options.author whether it may be looked at who speaks.
 * @param before of the first turns of the corpus.
 */
export async function readTurnForms(
  corpus: Corpus,
  sessions: Sessions,
  options: { readonly author: boolean },
  before?: TurnForms,
): Promise<TurnForms> {
  const tokenise = createTokeniser({ dropStopWords: false, stem: false });
  const { turns } = corpus;
  const copyColumn = (name: (typeof COLUMNS)[number]) => {
    const column = new Float32Array(turns.length);
    if (before !== undefined) column.set(before[name]);
    return [name, column];
  };
  const forms: Record<(typeof COLUMNS)[number], Float32Array> = Object.fromEntries(COLUMNS.map(copyColumn));
  const entities: ReadonlySet<string>[] = [...(before?.entities ?? [])];
  const pause = createEventBreaks();
  for (let position = entities.length; position < turns.length; position++) {
    const { text, timestamp } = turns[position] as Turn;
    const named = findEntities(text);
    entities.push(named);
    forms.length[position] = Math.log1p(tokenise(text).length);
    forms.question[position] = text.includes('?') ? 1 : 0;
    forms.number[position] = /\p{N}/u.test(text) ? 1 : 0;
    forms.times[position] = Math.log1p(countTimeExpressions(text, timestamp));
    forms.names[position] = Math.log1p(named.size);
    await pause();
  }
  const isOwn = (a: number, b: number) => options.author && turns[a]?.author === turns[b]?.author;
  const answer = Float32Array.from(turns.keys(), (position) => {
    const before = findNeighbour(sessions, position, -1);
    return before >= 0 && !isOwn(before, position) ? (forms.question[before] as number) : 0;
  });
  return { ...forms, answer, entities };
}
