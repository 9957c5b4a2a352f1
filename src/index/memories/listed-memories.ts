import { gatherRows } from '../../core/tensors/rows.ts';
import { createEventBreaks, ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import type { CandidateIndex, Candidates, MemoryQuestion, QueryBatch } from '../../model/candidates.ts';
import { findEntities } from '../../model/text/entities.ts';
import { type Corpus, findLowerBound } from '../../model/turns/corpus.ts';
import { isActive, readImportance } from '../../model/turns/memory-fields.ts';
import type { Turn } from '../../model/turns/turn.ts';
import type { IndexContext } from '../candidates/index-definition.ts';
import {
  allocateCandidates,
  assertAsked,
  assertQueries,
  groupByVisibleList,
  markListed,
} from '../candidates/query-batch.ts';
import { TopSelection } from '../candidates/top-selection.ts';
import { FlatIndex, FOREVER } from '../vectors/flat.ts';
import type { MemorySource } from './memory-options.ts';

/** The positions of the turns that hold and that a test accepts, ascending. */
function listActive(turns: readonly Turn[], accepts: (turn: Turn) => boolean = () => true): Int32Array {
  const positions: number[] = [];
  for (const [position, turn] of turns.entries()) if (isActive(turn) && accepts(turn)) positions.push(position);
  return Int32Array.from(positions);
}

/** Offers the memories that fit a question, with what they are ordered by first: larger is better. */
type Offer = (position: number, score: number) => void;
type VisitMemories = (question: MemoryQuestion, offer: Offer) => void;

/**
 * Memories that fit what a question asks, in an order that texts and vectors do not affect. The score is 1 / (1 + rank), which falls strictly. Costs the memories
 * that fit, whatever the size of the corpus.
 */
class ListedMemories implements CandidateIndex {
  readonly name: MemorySource;
  readonly #size: number;
  readonly #visit: VisitMemories;
  readonly #compareTies: (a: number, b: number) => number;

  /** @param compareTies the order of memories that are offered with the same score, negative if the first is better. */
  constructor(
    name: MemorySource,
    { size }: Corpus,
    visit: VisitMemories,
    compareTies: (a: number, b: number) => number = (a, b) => b - a,
  ) {
    this.name = name;
    this.#size = size;
    this.#visit = visit;
    this.#compareTies = compareTies;
  }

  /** @throws ValidationError for a batch without `asked`. */
  async search(queries: QueryBatch, k: number, progress: StartProgress = ignoreProgress): Promise<Candidates> {
    assertQueries(queries, this.#size, k);
    const asked = assertAsked(this.name, queries);
    const candidates = allocateCandidates(queries.cutoffs.length, k);
    const top = new TopSelection(k, this.#compareTies);
    const stage = progress(this.name, queries.cutoffs.length);
    const pause = createEventBreaks();
    let done = 0;
    for (const [list, members] of groupByVisibleList(queries)) {
      const marks = list === null ? null : markListed(list, this.#size);
      for (const query of members) {
        const cutoff = queries.cutoffs[query] as number;
        this.#visit(asked[query] as MemoryQuestion, (position, score) => {
          if (position < cutoff && (marks === null || marks[position] === 1)) top.offer(position, score);
        });
        top.drainTo(candidates, query);
        stage.update(++done);
        await pause();
      }
    }
    stage.finish(`${done} queries`);
    const { positions } = candidates;
    const scores = candidates.scores.map((_, slot) => ((positions[slot] as number) < 0 ? 0 : 1 / (1 + (slot % k))));
    return { ...candidates, scores };
  }

  dispose(): void {}
}

/** Memories by how many of the question's entities they have, then by importance, then the newest. Without `entities` of the context: the named things of the texts. */
export function createEntities(_: unknown, { corpus, entities }: IndexContext): CandidateIndex {
  const listed = new Map<string, number[]>();
  for (const position of listActive(corpus.turns))
    for (const id of new Set(entities?.[position] ?? findEntities(corpus.turns[position]?.text ?? ''))) {
      const positions = listed.get(id);
      if (positions === undefined) listed.set(id, [position]);
      else positions.push(position);
    }
  const importance = corpus.turns.map(readImportance);
  const visit: VisitMemories = ({ entities: named }, offer) => {
    const matches = new Map<number, number>();
    for (const id of new Set(named))
      for (const position of listed.get(id) ?? []) matches.set(position, (matches.get(position) ?? 0) + 1);
    for (const [position, count] of matches) offer(position, count);
  };
  return new ListedMemories(
    'entities',
    corpus,
    visit,
    (a, b) => (importance[b] as number) - (importance[a] as number) || b - a,
  );
}

/** The newest memories within the time that a question is about; none for a question without a time. */
export function createTime(_: unknown, { corpus }: IndexContext): CandidateIndex {
  const active = listActive(corpus.turns);
  const times = Float64Array.from(active, (position) => corpus.timestamps[position] as number);
  const visit: VisitMemories = ({ window }, offer) => {
    if (window === null) return;
    for (let i = findLowerBound(times, window.start); i < times.length && (times[i] as number) <= window.end; i++)
      offer(active[i] as number, 0);
  };
  return new ListedMemories('time', corpus, visit);
}

/** The newest summaries, of sessions for a question about a time and global ones for others; a summary without a `scope` is both. */
export function createSummaries(_: unknown, { corpus }: IndexContext): CandidateIndex {
  const summaries = listActive(corpus.turns, ({ attributes }) => attributes?.memoryType === 'summary');
  const scopes = Array.from(summaries, (position) => corpus.turns[position]?.attributes?.scope);
  const visit: VisitMemories = ({ window }, offer) => {
    const scope = window === null ? 'global' : 'session';
    for (const [i, position] of summaries.entries()) if ((scopes[i] ?? scope) === scope) offer(position, 0);
  };
  return new ListedMemories('summaries', corpus, visit);
}

/** The memories that a search by cosine leaves out. */
interface NearOptions {
  readonly name: MemorySource;
  /** Turns with a lower cosine are no candidates. */
  readonly minCosine: number;
  /** True if only procedures are searched, for questions about a process alone. */
  readonly isProcedural: boolean;
}

/** Exact search by cosine among memories. Owns its rows; throws after `dispose()`. */
class NearMemories implements CandidateIndex {
  readonly name: MemorySource;
  readonly #options: NearOptions;
  readonly #flat: FlatIndex;

  constructor({ corpus: { turns }, vectors, dimension }: IndexContext, options: NearOptions) {
    this.name = options.name;
    this.#options = options;
    const isSearched = ({ attributes }: Turn) => !options.isProcedural || attributes?.memoryType === 'procedural';
    const positions = listActive(turns, isSearched);
    this.#flat = new FlatIndex(
      turns.map(({ id }) => id),
      {
        ...{ dimension, positions, vectors: gatherRows(vectors, dimension, positions) },
        validFrom: positions.map((position) => position + 1),
        validTo: positions.map(() => FOREVER),
      },
    );
  }

  async search(queries: QueryBatch, k: number, progress?: StartProgress): Promise<Candidates> {
    const { isProcedural, minCosine } = this.#options;
    const asked = isProcedural ? assertAsked(this.name, queries) : null;
    const { positions, scores, width } = await this.#flat.search(queries, k, progress);
    const isLeft = (slot: number) =>
      (scores[slot] as number) >= minCosine && asked?.[Math.floor(slot / width)]?.procedural !== false;
    return {
      positions: positions.map((position, slot) => (isLeft(slot) ? position : -1)),
      scores: scores.map((score, slot) => (isLeft(slot) ? score : 0)),
      width,
    };
  }

  dispose(): void {
    this.#flat.dispose();
  }
}

/** Memories whose cosine with the question is at least `minCosine`. */
export function createSemantic({ minCosine }: { readonly minCosine: number }, context: IndexContext): CandidateIndex {
  return new NearMemories(context, { name: 'semantic', minCosine, isProcedural: false });
}

/** Procedures by cosine, for questions about a process. */
export function createProcedural(_: unknown, context: IndexContext): CandidateIndex {
  return new NearMemories(context, { name: 'procedural', minCosine: -1, isProcedural: true });
}
