import { ValidationError } from '../../../core/errors/errors.ts';
import type { Corpus } from '../../../model/turns/corpus.ts';
import { groupSessions, type Sessions } from '../../../model/turns/sessions.ts';
import type { Turn } from '../../../model/turns/turn.ts';
import type { SignalGroup } from './options.ts';
import type { PairTables } from './pair-signals.ts';
import { SessionRanks, Spread } from './sessions.ts';
import { TextScores } from './text-scores.ts';
import { ThreadTables } from './thread-tables.ts';
import { AuthorNames, listNameWords, TurnForms } from './turn-forms.ts';

/** What the signals of a corpus's turns are made from, for all queries that ask them. */
export class SubcorpusTables implements PairTables {
  #corpus: Corpus;
  readonly sessions: Sessions;
  readonly threads: ThreadTables;
  readonly ranks: SessionRanks;
  readonly spread: Spread;
  /** Of nobody where it may not be looked at who speaks. */
  readonly authors: AuthorNames;
  readonly #words: ReadonlySet<string>[];
  readonly #isAuthorRead: boolean;
  readonly #forms: TurnForms | null;
  readonly #text: TextScores | null;

  /** Without the forms of the turns. */
  private constructor(corpus: Corpus, groups: readonly SignalGroup[]) {
    const author = groups.includes('author');
    const sessions = groupSessions(corpus);
    this.#corpus = corpus;
    this.sessions = sessions;
    this.threads = new ThreadTables(corpus);
    this.ranks = new SessionRanks(corpus, sessions);
    this.spread = new Spread(sessions);
    this.authors = new AuthorNames(author ? corpus.turns : []);
    this.#words = author ? corpus.turns.map(readNameWords) : [];
    this.#isAuthorRead = author;
    this.#forms = groups.includes('form') ? new TurnForms(sessions, { author }) : null;
    this.#text = groups.includes('text') ? new TextScores(corpus, sessions, this.authors, { author }) : null;
  }

  /**
   * Makes what the signals of these groups need.
   *
   * @param before of the first turns of the corpus, for the same groups; takes in the others, and is not to be used
   *   after.
   */
  static async of(corpus: Corpus, groups: readonly SignalGroup[], before?: SubcorpusTables): Promise<SubcorpusTables> {
    if (before !== undefined) before.#append(corpus);
    const tables = before ?? new SubcorpusTables(corpus, groups);
    await tables.#forms?.append(corpus);
    return tables;
  }

  /** Takes in what is later than the turns that there are, but its forms. */
  #append(corpus: Corpus): void {
    const later = corpus.turns.slice(this.#corpus.size);
    this.#corpus = corpus;
    this.sessions.append(corpus);
    this.threads.append(corpus);
    this.ranks.append(corpus);
    if (this.#isAuthorRead) {
      this.authors.append(later);
      for (const turn of later) this.#words.push(readNameWords(turn));
    }
    this.#text?.append(later);
  }

  get corpus(): Corpus {
    return this.#corpus;
  }

  get words(): readonly ReadonlySet<string>[] {
    return this.#words;
  }

  /** @throws ValidationError where the groups are without it. */
  get forms(): TurnForms {
    return requireTable(this.#forms, 'form');
  }

  /** @throws ValidationError where the groups are without it. */
  get text(): TextScores {
    return requireTable(this.#text, 'text');
  }
}

const readNameWords = ({ text }: Turn) => listNameWords(text);

function requireTable<T>(table: T | null, group: SignalGroup): T {
  if (table === null)
    throw new ValidationError(`tables were made without the group: ${group}; add it to groups`, { group });
  return table;
}
