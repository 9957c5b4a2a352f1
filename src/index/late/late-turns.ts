import { ValidationError } from '../../core/errors/errors.ts';
import { multiplyRows } from '../../core/tensors/rows.ts';
import { createEventBreaks, ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import type { QueryBatch } from '../../model/candidates.ts';
import type { StoredTokens, TokenSource, TokenText } from '../../model/encoder.ts';
import { createTokeniser } from '../../model/text/tokens.ts';
import { type Corpus, findLowerBound } from '../../model/turns/corpus.ts';
import { findNeighbour, groupSessions, type Sessions } from '../../model/turns/sessions.ts';
import { sayTurn } from '../../model/turns/turn.ts';
import { computeTokenMaxima, type TokenRows } from '../../ops/late/late-interaction.ts';
import { isListed, listVisibleTurns, orderByCutoff } from '../candidates/query-batch.ts';
import { scaleRowsToUnit } from '../encoders/encoder-definition.ts';
import { LATE_SCORE_NAMES, type LateScore, type LateTexts } from './late-options.ts';
import { LateScores } from './late-scores.ts';

/** The turns before a turn in its session that its tokens see, the oldest first. */
const CONTEXT_STEPS = [-2, -1] as const;
/** Numbers of maxima that are in memory at a time: 64 MB. */
const MAXIMA = 2 ** 24;
/** Products that are computed at a time: 16 MB. */
const PRODUCTS = 2 ** 22;
/** Numbers of tokens of turns that are multiplied at a time: 4 MB. */
const ROW_NUMBERS = 2 ** 22;

/** A question as its tokens. */
interface Question {
  readonly ids: Int32Array;
  /** Row-major [T, D]. */
  readonly vectors: Float32Array;
  /** [T] of the weights of the tokens. */
  readonly factors: Float64Array;
}

function restoreRows({ scales, values }: StoredTokens, dimension: number, rows: Float32Array): void {
  for (let at = 0, token = 0; token < scales.length; token++) {
    const scale = scales[token] as number;
    for (let d = 0; d < dimension; d++, at++) rows[at] = scale * (values[at] as number);
  }
}

/** The length of each row of [T, D]. */
function measureRows(rows: Float32Array, dimension: number): Float64Array {
  return Float64Array.from({ length: rows.length / dimension }, (_, t) =>
    Math.hypot(...rows.subarray(t * dimension, (t + 1) * dimension)),
  );
}

/** The numbers, in a longer array where `end` of them do not fit. */
function growTo<A extends Float32Array | Int8Array>(numbers: A, kept: number, end: number): A {
  if (end <= numbers.length) return numbers;
  const longer = new (numbers.constructor as new (length: number) => A)(end);
  longer.set(numbers.subarray(0, kept));
  return longer;
}

/** The parts of queries that are read. */
type AskedTurns = Pick<QueryBatch, 'ids' | 'texts' | 'cutoffs' | 'visible'>;

/** The turns that a query may see, ascending. */
function listSeenTurns(queries: AskedTurns, query: number): Int32Array {
  return listVisibleTurns(queries, query) ?? Int32Array.from({ length: queries.cutoffs[query] as number }, (_, p) => p);
}

/** Adds up the turns that some queries may see. */
class SeenTurns {
  readonly #queries: AskedTurns;
  readonly #marks: Uint8Array;
  #size = 0;

  constructor(queries: AskedTurns) {
    this.#queries = queries;
    this.#marks = new Uint8Array(queries.cutoffs.reduce((most, cutoff) => Math.max(most, cutoff), 0));
  }

  /** Their number with those of a further query. */
  countWith(query: number): number {
    const isNew = (position: number) => this.#marks[position] === 0;
    return listSeenTurns(this.#queries, query).reduce((count, turn) => count + (isNew(turn) ? 1 : 0), this.#size);
  }

  add(query: number): void {
    this.#size = this.countWith(query);
    for (const position of listSeenTurns(this.#queries, query)) this.#marks[position] = 1;
  }

  /** Ascending. */
  list(): Int32Array {
    const positions = new Int32Array(this.#size);
    for (let position = 0, n = 0; n < positions.length; position++)
      if (this.#marks[position] === 1) positions[n++] = position;
    return positions;
  }
}

/** Adds the tokens of turns until they are enough for one product, as [S, D] rows and the scale of each. */
class RowBlock {
  /** The turns, as numbers of the caller. */
  readonly numbers: number[] = [];
  readonly #starts: number[] = [0];
  readonly #dimension: number;
  #rows: Int8Array;
  #scales: Float32Array;

  constructor(dimension: number, tokens: number) {
    this.#dimension = dimension;
    this.#rows = new Int8Array(tokens * dimension);
    this.#scales = new Float32Array(tokens);
  }

  get size(): number {
    return this.#starts.at(-1) as number;
  }

  add(number: number, { scales, values }: StoredTokens): void {
    const [start, end] = [this.size, this.size + scales.length];
    this.#rows = growTo(this.#rows, start * this.#dimension, end * this.#dimension);
    this.#scales = growTo(this.#scales, start, end);
    this.#rows.set(values, start * this.#dimension);
    this.#scales.set(scales, start);
    this.numbers.push(number);
    this.#starts.push(end);
  }

  /** The rows so far, and an empty block. */
  take() {
    const vectors = this.#rows.subarray(0, this.size * this.#dimension);
    const scales = this.#scales.subarray(0, this.size);
    const starts = Int32Array.from(this.#starts);
    this.#starts.length = 1;
    return { numbers: this.numbers.splice(0), vectors, scales, starts, dimension: this.#dimension };
  }
}

/** The maxima of some questions over N turns: row-major [N, T], the tokens of question q from `starts[q]` on. */
interface Maxima {
  /** [N] positions, ascending. */
  readonly turns: Int32Array;
  readonly values: Float32Array;
  readonly starts: Int32Array;
  /** Row-major [N, D] the mean of each turn's rows, of length 1; null if no score needs it. */
  readonly means: Float32Array | null;
  /** Piece of a question -> positions of the turns that have it, ascending. */
  readonly postings: ReadonlyMap<number, Int32Array>;
}

/**
 * The turns of a corpus for late interaction with questions: each question's tokens are compared with those of the
 * turns that it may see. Token vectors are read from the store block by block for as many questions as fit into memory;
 * one product of matrices for each block. O(S T D) for S tokens of turns and T of questions.
 *
 * The context looks back only, so that it is the same at every later moment.
 */
export class LateTurns {
  readonly #corpus: Corpus;
  readonly #store: TokenSource;
  readonly #texts: readonly TokenText[];
  readonly sessions: Sessions;

  constructor(corpus: Corpus, store: TokenSource, { view, author, around }: LateTexts) {
    this.#corpus = corpus;
    this.#store = store;
    this.sessions = groupSessions(corpus, around);
    this.#texts = corpus.turns.map((turn, position) => ({
      text: this.#say(position, author),
      owner: { kind: 'turn' as const, id: turn.id },
      context: view === 'plain' ? [] : this.#listContext(position, author),
    }));
  }

  #say(position: number, isNamed: boolean): string {
    const turn = this.#corpus.turns[position] as Corpus['turns'][number];
    return isNamed ? sayTurn(turn) : turn.text;
  }

  #listContext(position: number, isNamed: boolean): string[] {
    const steps = CONTEXT_STEPS.map((step) => findNeighbour(this.sessions, position, step));
    return steps.filter((other) => other >= 0).map((other) => this.#say(other, isNamed));
  }

  /** The texts whose tokens the queries need: of the turns that one of them may see, of the queries, and stop words. */
  listTexts(queries: AskedTurns): { turns: TokenText[]; questions: TokenText[]; stops: TokenText[] } {
    const { texts, ids } = queries;
    const seen = new SeenTurns(queries);
    for (const query of texts.keys()) seen.add(query);
    return {
      turns: Array.from(seen.list(), (position) => this.#texts[position] as TokenText),
      questions: texts.map((text, query) => ({ text, owner: { kind: 'query', id: ids?.[query] ?? '' }, context: [] })),
      stops: listStopTexts(texts),
    };
  }

  /**
   * Scores the turns that each query may see; computes tokens that the store lacks.
   *
   * @param use gets a query of the batch and its scores, which are computed as they are asked for.
   * @param names the scores that `use` asks for.
   * @throws ValidationError where `use` asks for `cosine`, which is not among the names.
   */
  async score(
    queries: AskedTurns,
    use: (query: number, scores: LateScores) => Promise<void> | void,
    progress: StartProgress = ignoreProgress,
    names: readonly LateScore[] = LATE_SCORE_NAMES,
  ): Promise<void> {
    const { cutoffs } = queries;
    const texts = this.listTexts(queries);
    await this.#store.prepare(Object.values(texts).flat(), progress);
    const questions = await this.#readQuestions(texts.questions);
    const stopPieces = await this.#readPieces(texts.stops);
    const stage = progress('late interaction', cutoffs.length);
    let done = 0;
    for (const part of splitQuestions(questions, queries)) {
      const asked = part.queries.map((query) => questions[query] as Question);
      const maxima = await this.#computeMaxima(asked, part.turns, names.includes('cosine'));
      for (const [i, query] of part.queries.entries()) {
        const visible = listSeenTurns(queries, query);
        await use(query, this.#createScores(asked[i] as Question, visible, maxima, i, stopPieces));
        stage.update(++done);
      }
    }
    stage.finish(`${cutoffs.length} queries`);
  }

  async #readQuestions(asked: readonly TokenText[]): Promise<Question[]> {
    const { dimension } = this.#store;
    const questions: Question[] = [];
    await this.#store.read(asked, (query, tokens) => {
      const vectors = new Float32Array(tokens.values.length);
      restoreRows(tokens, dimension, vectors);
      const factors = this.#store.weighsTokens
        ? measureRows(vectors, dimension)
        : new Float64Array(tokens.ids.length).fill(1);
      questions[query] = { ids: tokens.ids.slice(), vectors, factors };
    });
    return questions;
  }

  async #readPieces(texts: readonly TokenText[]): Promise<Set<number>> {
    const pieces = new Set<number>();
    await this.#store.read(texts, (_, { ids }) => {
      for (const id of ids) pieces.add(id);
    });
    return pieces;
  }

  /** The maxima of some turns for all tokens of some questions, and the means of their rows if wanted. */
  async #computeMaxima(questions: readonly Question[], turns: Int32Array, hasMeans: boolean): Promise<Maxima> {
    const count = turns.length;
    const { dimension } = this.#store;
    const starts = Int32Array.of(0, ...questions.map(({ ids }) => ids.length));
    for (let i = 1; i < starts.length; i++) starts[i] = (starts[i] as number) + (starts[i - 1] as number);
    const width = starts.at(-1) as number;
    const vectors = new Float32Array(width * dimension);
    for (const [i, question] of questions.entries()) vectors.set(question.vectors, (starts[i] as number) * dimension);
    const values = new Float32Array(count * width).fill(Number.NaN);
    const means = hasMeans ? new Float32Array(count * dimension) : null;
    const most = Math.max(1, Math.floor(Math.min(PRODUCTS / Math.max(1, width), ROW_NUMBERS / dimension)));
    const block = new RowBlock(dimension, most);
    const postings = new Map(questions.flatMap(({ ids }) => Array.from(ids, (id) => [id, [] as number[]] as const)));
    const flush = async () => {
      const { numbers, ...rows } = block.take();
      const found = width === 0 ? new Float32Array(0) : await computeTokenMaxima(rows, vectors);
      for (const [i, n] of numbers.entries()) {
        values.set(found.subarray(i * width, (i + 1) * width), n * width);
        if (means !== null) averageRows(rows, i, means.subarray(n * dimension, (n + 1) * dimension));
      }
    };
    const pause = createEventBreaks();
    const texts = Array.from(turns, (position) => this.#texts[position] as TokenText);
    await this.#store.read(texts, async (n, tokens) => {
      if (block.size > 0 && block.size + tokens.ids.length > most) await flush();
      block.add(n, tokens);
      for (const id of tokens.ids) postings.get(id)?.push(turns[n] as number);
      await pause();
    });
    if (block.numbers.length > 0) await flush();
    return { turns, values, starts, means, postings: sortPostings(postings) };
  }

  #createScores(
    question: Question,
    visible: Int32Array,
    part: Maxima,
    at: number,
    stops: ReadonlySet<number>,
  ): LateScores {
    const { ids, vectors, factors } = question;
    const { dimension } = this.#store;
    const width = part.starts.at(-1) as number;
    const maxima = new Float32Array(visible.length * ids.length);
    const rows = visible.map((position) => findLowerBound(part.turns, position));
    for (const [i, row] of rows.entries()) {
      const start = row * width + (part.starts[at] as number);
      maxima.set(part.values.subarray(start, start + ids.length), i * ids.length);
    }
    const mean = averageRows(
      { vectors, starts: Int32Array.of(0, ids.length), dimension },
      0,
      new Float32Array(dimension),
    );
    const computeCosine = (row: number) => {
      if (part.means === null)
        throw new ValidationError('score cosine was not announced; add it to the names of the scores');
      return multiplyRows(mean, 0, part.means, row, dimension);
    };
    const findIndex = (position: number) => (isListed(visible, position) ? findLowerBound(visible, position) : -1);
    return new LateScores({
      visible,
      maxima,
      weights: factors.map((factor, t) => {
        const found = countListed(part.postings.get(ids[t] as number), visible);
        return factor * computeIdf(visible.length, found);
      }),
      isStop: Array.from(ids, (id) => stops.has(id)),
      findNeighbour: (i, step) => {
        const other = findNeighbour(this.sessions, visible[i] as number, step);
        return other < 0 ? -1 : findIndex(other);
      },
      cosines: () => Float64Array.from(rows, computeCosine),
    });
  }
}

/** The mean of the rows of a turn, of length 1; 0 for a turn without a row. */
function averageRows(
  { vectors, scales, starts, dimension }: TokenRows,
  turn: number,
  mean: Float32Array,
): Float32Array {
  for (let row = starts[turn] as number; row < (starts[turn + 1] as number); row++) {
    const scale = scales?.[row] ?? 1;
    for (let d = 0; d < dimension; d++)
      mean[d] = (mean[d] as number) + scale * (vectors[row * dimension + d] as number);
  }
  scaleRowsToUnit(mean, dimension);
  return mean;
}

/** The inverse document frequency of a piece that `found` of `count` turns have, as in BM25. */
function computeIdf(count: number, found: number): number {
  return Math.log(1 + (count - found + 0.5) / (found + 0.5));
}

/** Counts the positions that are among others, both ascending. */
function countListed(positions: Int32Array | undefined, visible: Int32Array): number {
  if (positions === undefined) return 0;
  const last = visible.at(-1) ?? -1;
  if (visible.length === last + 1) return findLowerBound(positions, visible.length);
  return positions.reduce((count, position) => count + (isListed(visible, position) ? 1 : 0), 0);
}

/** The turns of each piece, ascending and without repetition. */
function sortPostings(postings: ReadonlyMap<number, readonly number[]>): ReadonlyMap<number, Int32Array> {
  return new Map(Array.from(postings, ([id, turns]) => [id, Int32Array.from(new Set(turns)).sort()]));
}

/** The stop words of questions, a text each, of which the pieces are wanted. */
function listStopTexts(texts: readonly string[]): TokenText[] {
  const readWords = createTokeniser({ dropStopWords: false, stem: false });
  const readContent = createTokeniser({ dropStopWords: true, stem: false });
  const stops = [...new Set(texts.flatMap(readWords))].filter((word) => readContent(word).length === 0);
  return stops.map((text) => ({ text, owner: { kind: 'turn', id: text }, context: [] }));
}

/** Questions whose maxima fit into memory, and the turns that one of them may see. */
interface QuestionPart {
  readonly queries: readonly number[];
  readonly turns: Int32Array;
}

/** Questions in parts, those about few turns first. */
function splitQuestions(questions: readonly Question[], queries: AskedTurns): QuestionPart[] {
  const parts: QuestionPart[] = [];
  let [part, tokens]: [number[], number] = [[], 0];
  let seen = new SeenTurns(queries);
  for (const query of orderByCutoff(queries.cutoffs)) {
    const own = (questions[query] as Question).ids.length;
    if (part.length > 0 && (tokens + own) * seen.countWith(query) > MAXIMA) {
      parts.push({ queries: part, turns: seen.list() });
      [part, tokens, seen] = [[], 0, new SeenTurns(queries)];
    }
    seen.add(query);
    part.push(query);
    tokens += own;
  }
  return [...parts, { queries: part, turns: seen.list() }];
}
