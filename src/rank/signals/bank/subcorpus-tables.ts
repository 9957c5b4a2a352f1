import { ValidationError } from '../../../core/errors/errors.ts';
import type { Corpus } from '../../../model/turns/corpus.ts';
import { groupSessions, type Sessions } from '../../../model/turns/sessions.ts';
import type { Turn } from '../../../model/turns/turn.ts';
import type { SignalGroup } from './options.ts';
import type { PairTables } from './pair-signals.ts';
import { SessionRanks, Spread } from './sessions.ts';
import { TextScores } from './text-scores.ts';
import { ThreadTables } from './thread-tables.ts';
import { AuthorNames, listNameWords, readTurnForms, type TurnForms } from './turn-forms.ts';

/** What the signals of a corpus's turns are made from, for all queries that ask them. */
export class SubcorpusTables implements PairTables {
  readonly corpus: Corpus;
  readonly sessions: Sessions;
  readonly threads: ThreadTables;
  readonly ranks: SessionRanks;
  readonly spread: Spread;
  /** Of nobody where it may not be looked at who speaks. */
  readonly authors: AuthorNames;
  readonly words: readonly ReadonlySet<string>[];
  readonly #forms: TurnForms | null;
  readonly #text: TextScores | null;

  private constructor(
    corpus: Corpus,
    sessions: Sessions,
    forms: TurnForms | null,
    groups: readonly SignalGroup[],
    before?: SubcorpusTables,
  ) {
    const author = groups.includes('author');
    this.corpus = corpus;
    this.sessions = sessions;
    this.threads = new ThreadTables(corpus);
    this.ranks = new SessionRanks(corpus, sessions);
    this.spread = new Spread(sessions);
    this.authors = new AuthorNames(author ? corpus.turns : []);
    this.words = author ? listAllNameWords(corpus.turns, before?.words) : [];
    this.#forms = forms;
    this.#text = groups.includes('text') ? new TextScores(corpus, sessions, this.authors, { author }) : null;
  }

  /**
   * Makes what the signals of these groups need.
   *
   * @param before of the first turns of the corpus, for the same groups; not to be used after.
   */
  static async of(corpus: Corpus, groups: readonly SignalGroup[], before?: SubcorpusTables): Promise<SubcorpusTables> {
    const sessions = groupSessions(corpus);
    const author = groups.includes('author');
    const forms = groups.includes('form') ? await readTurnForms(corpus, sessions, { author }, before?.forms) : null;
    return new SubcorpusTables(corpus, sessions, forms, groups, before);
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

/** The words that each turn may name somebody with. @param before of the first turns. */
function listAllNameWords(turns: readonly Turn[], before: readonly ReadonlySet<string>[] = []): ReadonlySet<string>[] {
  return [...before, ...turns.slice(before.length).map(({ text }) => listNameWords(text))];
}

function requireTable<T>(table: T | null, group: SignalGroup): T {
  if (table === null)
    throw new ValidationError(`tables were made without the group: ${group}; add it to groups`, { group });
  return table;
}
