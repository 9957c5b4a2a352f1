import { createRandom } from '../../src/core/numbers/random.ts';
import type { LateTexts } from '../../src/index/late/late-options.ts';
import { LateTurns } from '../../src/index/late/late-turns.ts';
import type { LearningTask } from '../../src/lab/training/learning-task.ts';
import type { StoredTokens, TokenText } from '../../src/model/encoder.ts';
import type { TokenRows } from '../../src/ops/late/late-interaction.ts';
import type { FeatureTable } from '../../src/rank/learning/feature-table.ts';
import type { TokenBatch } from './token-model.ts';

/** The questions of a task with the tokens of their own and of their candidates. */
export interface TokenQuestions {
  /** D. */
  readonly dimension: number;
  /** [Q] */
  readonly questions: readonly StoredTokens[];
  /** [Q] as the encoder gives them, where `questions` are encoded in another way. */
  readonly frozen?: readonly StoredTokens[];
  /** Tokens of a turn by its position in the corpus. */
  readonly turns: ReadonlyMap<number, StoredTokens>;
  /** Row-major [Q, C] positions of the candidates, -1 where padded. */
  readonly positions: Int32Array;
  /** Without signals. */
  readonly table: FeatureTable;
  /** Texts of the tokens: turns by position, and [Q] questions. */
  readonly texts: { readonly turns: ReadonlyMap<number, TokenText>; readonly questions: readonly TokenText[] };
}

/** Reads the tokens of a task's questions and candidates, which are encoded where they are missing. */
export async function readTokenQuestions(task: LearningTask, views: LateTexts): Promise<TokenQuestions> {
  const { workspace, pool } = task;
  const { corpus } = workspace;
  const store = await workspace.openTokens();
  const candidates = new Set(pool.positions);
  const copy = ({ ids, scales, values }: StoredTokens) => ({
    ids: ids.slice(),
    scales: scales.slice(),
    values: values.slice(),
  });
  const questions: StoredTokens[] = [];
  const turns = new Map<number, StoredTokens>();
  const texts = { turns: new Map<number, TokenText>(), questions: [] as TokenText[] };
  for (const { subcorpus, batch, queryIndexes } of workspace.subcorpora.split(workspace.batch)) {
    const listed = new LateTurns(subcorpus.corpus, store, views).listTexts(batch);
    const positionOf = ({ owner }: TokenText) => corpus.getPosition(owner.id);
    for (const [i, text] of listed.questions.entries()) texts.questions[queryIndexes[i] as number] = text;
    const wanted = listed.turns.filter((text) => candidates.has(positionOf(text)));
    for (const text of wanted) texts.turns.set(positionOf(text), text);
    await store.prepare([...wanted, ...listed.questions], workspace.startProgress);
    await store.read(wanted, (i, tokens) => void turns.set(positionOf(wanted[i] as TokenText), copy(tokens)));
    await store.read(listed.questions, (i, tokens) => {
      questions[queryIndexes[i] as number] = copy(tokens);
    });
  }
  const table = { ...task.table, signals: [], values: new Float32Array() };
  return { dimension: store.dimension, questions, turns, positions: pool.positions, table, texts };
}

/** Rows of tokens without scales. */
export type FloatRows = TokenRows & { readonly vectors: Float32Array };

/** Tokens of texts one after the other, as rows of length 1. */
function joinTokens(texts: readonly StoredTokens[], dimension: number): FloatRows {
  const starts = new Int32Array(texts.length + 1);
  for (const [i, { ids }] of texts.entries()) starts[i + 1] = starts[i]! + ids.length;
  const vectors = new Float32Array(starts.at(-1)! * dimension);
  for (const [i, { scales, values }] of texts.entries())
    for (let token = 0, at = starts[i]! * dimension; token < scales.length; token++)
      for (let d = 0; d < dimension; d++, at++) vectors[at] = scales[token]! * values[token * dimension + d]!;
  return { vectors, starts, dimension };
}

/** Counts the candidates that have each token of each question. @returns ln of the inverse document frequencies. */
export function computeLogIdf({ questions, turns, positions, table: { width } }: TokenQuestions): Float32Array[] {
  const having = new Map<number, Set<number>>();
  for (const [position, { ids }] of turns)
    for (const id of ids) {
      const found = having.get(id) ?? new Set();
      having.set(id, found.add(position));
    }
  return questions.map(({ ids }, q) => {
    const own = positions.subarray(q * width, (q + 1) * width);
    const seen = new Set(own.filter((position) => turns.has(position)));
    return Float32Array.from(ids, (id) => {
      let found = 0;
      for (const position of having.get(id) ?? []) if (seen.has(position)) found++;
      return Math.log(Math.log(1 + (seen.size - found + 0.5) / (found + 0.5)));
    });
  });
}

/** Whose tokens and judgements a question gets in a training: its own, or as a null control those of others. */
export interface Pairing {
  /** [Q] the question whose judged turns count for each. */
  readonly labels?: ReadonlyMap<number, ReadonlyMap<number, number>>;
  /** The turn whose tokens each turn has. */
  readonly tokens?: ReadonlyMap<number, number>;
}

/** Makes batches of questions with the turns that they are compared with. */
export class TokenBatches {
  readonly #of: TokenQuestions;
  readonly #logIdf: readonly Float32Array[];

  constructor(questions: TokenQuestions) {
    this.#of = questions;
    this.#logIdf = computeLogIdf(questions);
  }

  get questions(): TokenQuestions {
    return this.#of;
  }

  /** Positions of a question's candidates that have a token. */
  #listCandidates(query: number): number[] {
    const { positions, turns, table } = this.#of;
    const own = positions.subarray(query * table.width, (query + 1) * table.width);
    return [...own].filter((position) => (turns.get(position)?.ids.length ?? 0) > 0);
  }

  /** Grades of a question's judged candidates by position. */
  listGrades(query: number): Map<number, number> {
    const { positions, table } = this.#of;
    const grades = new Map<number, number>();
    for (let pair = query * table.width; pair < (query + 1) * table.width; pair++)
      if (table.grades[pair]! > 0) grades.set(positions[pair]!, table.grades[pair]!);
    return grades;
  }

  /** The newest candidate of each row, as if it were judged: of a message, the one before it. */
  listAdjacent(rows: Int32Array): Map<number, ReadonlyMap<number, number>> {
    const { relevantGrade } = this.#of.table;
    const newest = Array.from(rows, (row) => [row, Math.max(...this.#listCandidates(row))] as const);
    return new Map(newest.map(([row, position]) => [row, new Map(position < 0 ? [] : [[position, relevantGrade]])]));
  }

  /**
   * A batch of questions.
   *
   * @param turns at most as many irrelevant turns, drawn by the seed; null for all candidates.
   */
  make(
    queries: readonly number[],
    turns: { readonly most: number; readonly seed: number } | null,
    paired: Pairing = {},
  ): TokenBatch {
    const { dimension, questions, frozen = questions, table } = this.#of;
    const seen = queries.map((query) => new Set(this.#listCandidates(query)));
    const grades = queries.map((query) => paired.labels?.get(query) ?? this.listGrades(query));
    const relevant = new Set(grades.flatMap((own) => [...own.keys()]));
    const all = [...new Set(seen.flatMap((own) => [...own]))];
    const others = all.filter((position) => !relevant.has(position));
    const drawn =
      turns === null
        ? others
        : createRandom(turns.seed, `turns of ${queries.join()}`).shuffle(others).slice(0, turns.most);
    const listed = [...all.filter((position) => relevant.has(position)), ...drawn].sort((a, b) => a - b);
    const width = listed.length;
    const mask = new Uint8Array(queries.length * width);
    const ownGrades = new Float32Array(queries.length * width);
    for (const [row, own] of seen.entries())
      for (const [i, position] of listed.entries()) {
        if (!own.has(position)) continue;
        mask[row * width + i] = 1;
        ownGrades[row * width + i] = grades[row]!.get(position) ?? 0;
      }
    const tokensOf = (position: number) => this.#of.turns.get(paired.tokens?.get(position) ?? position) as StoredTokens;
    const joinQuestions = (from: readonly StoredTokens[]) =>
      joinTokens(
        queries.map((query) => from[query] as StoredTokens),
        dimension,
      );
    const asked = joinQuestions(questions);
    return {
      turns: joinTokens(listed.map(tokensOf), dimension),
      questions: asked,
      gated: frozen === questions ? asked.vectors : joinQuestions(frozen).vectors,
      logIdf: Float32Array.from(queries.flatMap((query) => [...(this.#logIdf[query] as Float32Array)])),
      table: {
        signals: [],
        queryIds: queries.map((query) => table.queryIds[query] as string),
        clusters: queries.map((query) => table.clusters[query] as string),
        width,
        values: new Float32Array(),
        mask,
        grades: ownGrades,
        missed: new Int32Array(queries.length),
        missedGrades: new Float32Array(),
        relevantGrade: table.relevantGrade,
      },
      positions: listed,
      queries,
    };
  }
}
