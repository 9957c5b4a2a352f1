import { GrowingArray } from '../../../core/numbers/growing-array.ts';
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
  readonly #authors: Author[] = [];
  readonly #known = new Set<string>();
  /** By what authors are called by, the least position at which one of them spoke. */
  readonly #calledFrom = new Map<string, number>();
  #size = 0;

  /** @param turns in time order. */
  constructor(turns: readonly Turn[]) {
    this.append(turns);
  }

  /** @param later turns after those that there are, in time order. */
  append(later: readonly Turn[]): void {
    for (const { author: name } of later) {
      const first = this.#size++;
      if (name === null || this.#known.has(name)) continue;
      const calledBy = listCallNames(name);
      this.#known.add(name);
      this.#authors.push({ name, first, calledBy });
      for (const call of calledBy) if (!this.#calledFrom.has(call)) this.#calledFrom.set(call, first);
    }
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

const createColumn = () => new GrowingArray(new Float32Array(0));

/** The query-independent features of each turn. [N] each. */
export class TurnForms {
  readonly #sessions: Sessions;
  readonly #isAuthorRead: boolean;
  readonly #columns = {
    length: createColumn(),
    question: createColumn(),
    answer: createColumn(),
    number: createColumn(),
    times: createColumn(),
    names: createColumn(),
  };
  readonly #entities: ReadonlySet<string>[] = [];

  /**
   * @param sessions of the turns, which take in turns before the forms do.
   * @param options.author whether it may be looked at who speaks.
   */
  constructor(sessions: Sessions, { author }: { readonly author: boolean }) {
    this.#sessions = sessions;
    this.#isAuthorRead = author;
  }

  /** ln(1 + words). */
  get length(): Float32Array {
    return this.#columns.length.numbers;
  }

  /** 1 where it asks. */
  get question(): Float32Array {
    return this.#columns.question.numbers;
  }

  /** 1 where the turn before it in its session asks; where authors may be looked at, only if that is somebody else's. */
  get answer(): Float32Array {
    return this.#columns.answer.numbers;
  }

  /** 1 where it holds a digit. */
  get number(): Float32Array {
    return this.#columns.number.numbers;
  }

  /** ln(1 + time expressions). */
  get times(): Float32Array {
    return this.#columns.times.numbers;
  }

  /** ln(1 + named things). */
  get names(): Float32Array {
    return this.#columns.names.numbers;
  }

  get entities(): readonly ReadonlySet<string>[] {
    return this.#entities;
  }

  /** Takes in the turns of a corpus after those that there are, which are its first. */
  async append({ turns }: Corpus): Promise<void> {
    const tokenise = createTokeniser({ dropStopWords: false, stem: false });
    const pause = createEventBreaks();
    for (let position = this.#entities.length; position < turns.length; position++) {
      const { text, timestamp } = turns[position] as Turn;
      const named = findEntities(text);
      this.#entities.push(named);
      this.#columns.length.push(Math.log1p(tokenise(text).length));
      this.#columns.question.push(text.includes('?') ? 1 : 0);
      this.#columns.answer.push(this.#isAnswer(turns, position) ? 1 : 0);
      this.#columns.number.push(/\p{N}/u.test(text) ? 1 : 0);
      this.#columns.times.push(Math.log1p(countTimeExpressions(text, timestamp)));
      this.#columns.names.push(Math.log1p(named.size));
      await pause();
    }
  }

  #isAnswer(turns: readonly Turn[], position: number): boolean {
    const before = findNeighbour(this.#sessions, position, -1);
    if (before < 0 || this.question[before] === 0) return false;
    return !this.#isAuthorRead || turns[before]?.author !== turns[position]?.author;
  }
}
