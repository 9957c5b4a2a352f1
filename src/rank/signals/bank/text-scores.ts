import { freezeDeeply, getOrCompute } from '../../../core/values/once.ts';
import { BM25_DEFAULTS, BM25_VARIANTS, TermPostings } from '../../../index/words/bm25.ts';
import { GroupedBm25, type GroupedBm25Options, type TurnGroups } from '../../../index/words/grouped-bm25.ts';
import { createTokeniser, type Tokeniser, type TokenOptions } from '../../../model/text/tokens.ts';
import type { Corpus } from '../../../model/turns/corpus.ts';
import type { Sessions } from '../../../model/turns/sessions.ts';
import type { Turn } from '../../../model/turns/turn.ts';
import { groupBySession, WindowGroups } from './sessions.ts';
import type { AuthorNames } from './turn-forms.ts';

/** Turns that are taken to be relevant, and terms that are taken from them. */
const FEEDBACK_TURNS = 5;
const FEEDBACK_TERMS = 12;

/** The turns with the highest scores above 0, best first; of equal ones the earlier. */
function rankFeedbackTurns(scores: Float64Array): number[] {
  const best: number[] = [];
  for (let position = 0; position < scores.length; position++) {
    const score = scores[position] as number;
    if (score <= 0 || (best.length === FEEDBACK_TURNS && score <= (scores[best.at(-1) as number] as number))) continue;
    const insertionPoint = best.findIndex((other) => score > (scores[other] as number));
    best.splice(insertionPoint === -1 ? best.length : insertionPoint, 0, position);
    best.length = Math.min(best.length, FEEDBACK_TURNS);
  }
  return best;
}

/**
 * Pseudo-relevance feedback: the terms that the best turns have in common and others lack, by score x rarity / length
 * (a relevance model, Lavrenko and Croft 2001, with each term counted once a turn).
 *
 * @param scores [cutoff] of a first search
 * @param postings of the turns
 * @param rarity of a term, from the number of turns before the cutoff that contain it
 * @returns terms that count once each
 */
export function chooseFeedbackTerms(
  scores: Float64Array,
  postings: TermPostings,
  rarity: (count: number, frequency: number) => number,
): ReadonlyMap<string, number> {
  const cutoff = scores.length;
  const weights = new Map<string, number>();
  for (const position of rankFeedbackTurns(scores)) {
    const share = (scores[position] as number) / Math.max(1, postings.lengths[position] as number);
    for (const word of postings.listTurnTerms(position))
      weights.set(word, (weights.get(word) ?? 0) + share * rarity(cutoff, postings.countTurnsWith(word, cutoff)));
  }
  const strongest = [...weights].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).slice(0, FEEDBACK_TERMS);
  return new Map(strongest.map(([word]) => [word, 1]));
}

/**
 * Characters of a gram: long enough to mean something, short enough to be shared by `paint`, `painter` and `painting`.
 */
const GRAM = 4;

/** Consecutive words, in order. */
function listWordPairs(words: readonly string[]): string[] {
  return words.slice(1).map((word, i) => `${words[i]} ${word}`);
}

/** Every run of four characters of a word with its ends marked; a shorter word is a gram by itself. */
function listCharacterGrams(word: string): string[] {
  const marked = Array.from(`_${word}_`);
  const count = Math.max(1, marked.length - GRAM + 1);
  return Array.from({ length: count }, (_, start) => marked.slice(start, start + GRAM).join(''));
}

/** The units that a text is split into. */
export const TERM_KINDS = freezeDeeply({
  words: (options: TokenOptions): Tokeniser => createTokeniser(options),
  pairs: (options: TokenOptions): Tokeniser => {
    const tokenise = createTokeniser(options);
    return (text) => listWordPairs(tokenise(text));
  },
  /** Character grams within words, which are not stemmed. */
  characters: ({ dropStopWords }: TokenOptions): Tokeniser => {
    const tokenise = createTokeniser({ dropStopWords, stem: false });
    const known = new Map<string, string[]>();
    return (text) => tokenise(text).flatMap((word) => getOrCompute(known, word, listCharacterGrams));
  },
} as const satisfies Record<string, (options: TokenOptions) => Tokeniser>);

/** A kind of term that is recognised in a text. */
export type TermKind = keyof typeof TERM_KINDS;

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
  readonly read: (turn: Turn) => string;
  /** True if a text is looked for with the names in it. */
  readonly withNames: boolean;
}

const readText = ({ text }: Turn) => text;
const readSpoken = ({ author, text }: Turn) => `${author ?? ''} ${text}`;

/**
 * What a corpus's words say about any text, each score as of any moment. Scores look for a text without the names of
 * authors, and leave it to other signals who speaks; `bm25.author` alone looks for names too, in turns with their
 * authors' before them.
 */
export class TextScores {
  readonly #names: AuthorNames;
  readonly #words: TermPostings;
  /** Of single turns. */
  readonly #turns: GroupedBm25;
  /** Turns in other terms than words, or with their authors. */
  readonly #others: readonly OtherTerms[];
  readonly #windows: readonly WindowGroups[];
  readonly #groups: readonly { readonly name: string; readonly of: NamedScores['of']; readonly index: GroupedBm25 }[];

  /**
   * @param names of the corpus's authors; of nobody where it may not be looked at who speaks.
   * @param options.author whether it may be.
   */
  constructor({ turns }: Corpus, sessions: Sessions, names: AuthorNames, options: { readonly author: boolean }) {
    this.#names = names;
    const buildPostings = (kind: TermKind, read: OtherTerms['read']) =>
      new TermPostings(turns.map(read), TERM_KINDS[kind](TOKENS));
    this.#words = buildPostings('words', readText);
    const single = new WindowGroups(sessions, 0);
    const windows = REACHES.map((reach) => new WindowGroups(sessions, reach));
    this.#windows = [single, ...windows];
    this.#turns = new GroupedBm25(this.#words, single, PARAMETERS);
    const buildOtherTerms = (name: string, kind: TermKind, read = readText): OtherTerms => {
      const postings = buildPostings(kind, read);
      const index = new GroupedBm25(postings, single, PARAMETERS);
      return { name, postings, index, read, withNames: read === readSpoken };
    };
    this.#others = [
      buildOtherTerms('characters', 'characters'),
      buildOtherTerms('pairs', 'pairs'),
      ...(options.author ? [buildOtherTerms('bm25.author', 'words', readSpoken)] : []),
    ];
    const group = (name: string, of: NamedScores['of'], groups: TurnGroups) => {
      return { name, of, index: new GroupedBm25(this.#words, groups, PARAMETERS) };
    };
    this.#groups = [
      ...windows.map((groups, i) => group(`window-${REACHES[i]}`, 'windows', groups)),
      group('session', 'sessions', groupBySession(sessions)),
    ];
  }

  /** Takes in turns after those that there are, which the sessions and the names have taken in. */
  append(later: readonly Turn[]): void {
    this.#words.append(later.map(readText));
    for (const { postings, read } of this.#others) postings.append(later.map(read));
    for (const groups of this.#windows) groups.append();
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
