import { BM25_DEFAULTS } from '../../../index/words/bm25-options.ts';
import { BM25_VARIANTS } from '../../../index/words/bm25-variants.ts';
import { GroupedBm25, type GroupedBm25Options } from '../../../index/words/grouped-bm25.ts';
import { TermPostings } from '../../../index/words/term-postings.ts';
import { TERM_KINDS, type TermKind } from '../../../model/text/term-kinds.ts';
import type { Corpus } from '../../../model/turns/corpus.ts';
import type { AuthorNames } from './author-names.ts';
import { chooseFeedbackTerms } from './feedback.ts';
import { buildSessionGroups, buildWindowGroups, type Sessions } from './sessions.ts';

const VARIANT = 'lucene';
const PARAMETERS: GroupedBm25Options = { k1: BM25_DEFAULTS.k1, b: BM25_DEFAULTS.b, variant: VARIANT };
const TOKENS = { dropStopWords: true, stem: true };
/** Steps to each side of a turn that its window takes in. */
const REACHES = [1, 2] as const;

/** One score of all documents for a text. */
interface NamedScores {
  /** Of the signal. */
  readonly name: string;
  /** The kind of the documents; a window is identified by its central turn. */
  readonly of: 'turns' | 'windows' | 'sessions';
  /** [documents]; overwritten by the next. */
  readonly scores: Float64Array;
}

interface OtherTerms {
  readonly name: string;
  readonly postings: TermPostings;
  readonly index: GroupedBm25;
  /** Whether a text is looked for with the names in it. */
  readonly withNames: boolean;
}

function buildPostings(texts: readonly string[], kind: TermKind): TermPostings {
  return new TermPostings(texts, TERM_KINDS[kind](TOKENS));
}

/**
 * What a corpus's words say about any text, each score as of any moment. Scores look for a text without the names of authors, and leave it to other signals who
 * speaks; `bm25.author` alone looks for names too, in turns with their authors' before them.
 */
export class TextScores {
  readonly #names: AuthorNames;
  readonly #words: TermPostings;
  /** Of single turns. */
  readonly #turns: GroupedBm25;
  /** Turns in other terms than words, or with their authors. */
  readonly #others: readonly OtherTerms[];
  readonly #groups: readonly { readonly name: string; readonly of: NamedScores['of']; readonly index: GroupedBm25 }[];

  /**
   * @param names of the corpus's authors; of nobody where it may not be looked at who speaks.
   * @param options.author whether it may be.
   */
  constructor(corpus: Corpus, sessions: Sessions, names: AuthorNames, options: { readonly author: boolean }) {
    this.#names = names;
    const texts = corpus.turns.map(({ text }) => text);
    this.#words = buildPostings(texts, 'words');
    const single = buildWindowGroups(sessions, 0);
    this.#turns = new GroupedBm25(this.#words, single, PARAMETERS);
    const buildOtherTerms = (name: string, postings: TermPostings, withNames = false): OtherTerms => {
      return { name, postings, index: new GroupedBm25(postings, single, PARAMETERS), withNames };
    };
    const listSpokenTexts = () => corpus.turns.map(({ author, text }) => `${author ?? ''} ${text}`);
    this.#others = [
      buildOtherTerms('characters', buildPostings(texts, 'characters')),
      buildOtherTerms('pairs', buildPostings(texts, 'pairs')),
      ...(options.author ? [buildOtherTerms('bm25.author', buildPostings(listSpokenTexts(), 'words'), true)] : []),
    ];
    const group = (name: string, of: NamedScores['of'], groups: ReturnType<typeof buildSessionGroups>) => {
      return { name, of, index: new GroupedBm25(this.#words, groups, PARAMETERS) };
    };
    this.#groups = [
      ...REACHES.map((reach) => group(`window-${reach}`, 'windows', buildWindowGroups(sessions, reach))),
      group('session', 'sessions', buildSessionGroups(sessions)),
    ];
  }

  /** Every score of a text as of a cutoff; each array is overwritten by the next. */
  *scoreDocuments(text: string, cutoff: number): Generator<NamedScores> {
    const nameless = this.#names.without(text, cutoff);
    const terms = this.#words.countQueryTerms(nameless);
    const [scores, coverage] = [new Float64Array(this.#turns.size), new Float64Array(this.#turns.size)];
    this.#turns.scoreAndCoverage(terms, cutoff, scores, coverage);
    yield { name: 'bm25', of: 'turns', scores };
    yield { name: 'coverage', of: 'turns', scores: coverage };
    const feedback = chooseFeedbackTerms(scores.subarray(0, cutoff), this.#words, BM25_VARIANTS[VARIANT].idf);
    this.#turns.score(feedback, cutoff, scores);
    yield { name: 'feedback', of: 'turns', scores };
    for (const { name, postings, index, withNames } of this.#others) {
      index.score(postings.countQueryTerms(withNames ? text : nameless), cutoff, scores);
      yield { name, of: 'turns', scores };
    }
    yield* this.#groupScores(terms, cutoff);
  }

  *#groupScores(terms: ReadonlyMap<string, number>, cutoff: number): Generator<NamedScores> {
    for (const { name, of, index } of this.#groups) {
      const [scores, coverage] = [new Float64Array(index.size), new Float64Array(index.size)];
      index.scoreAndCoverage(terms, cutoff, scores, coverage);
      yield { name: `bm25.${name}`, of, scores };
      yield { name: `coverage.${name}`, of, scores: coverage };
    }
  }
}
