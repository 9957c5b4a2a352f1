import { gatherRows } from '../../core/tensors/rows.ts';
import { createEventBreaks, ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import { getOrCompute } from '../../core/values/once.ts';
import type { CandidateIndex, Candidates, MemoryQuestion, QueryBatch } from '../../model/candidates.ts';
import { findEntities } from '../../model/text/entities.ts';
import { joinWords, listWords } from '../../model/text/tokens.ts';
import { type Corpus, findLowerBound } from '../../model/turns/corpus.ts';
import { FactClosings } from '../../model/turns/fact-closings.ts';
import {
  type FactCloser,
  isActive,
  type MemoryFields,
  readImportance,
  readMemoryFields,
} from '../../model/turns/memory-fields.ts';
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
function listActive(
  turns: readonly Turn[],
  accepts: (turn: Turn, position: number) => boolean = () => true,
): Int32Array {
  const positions: number[] = [];
  for (const [position, turn] of turns.entries())
    if (isActive(turn) && accepts(turn, position)) positions.push(position);
  return Int32Array.from(positions);
}

/** Offers the memories that fit a question, with what they are ordered by first: larger is better. */
type Offer = (position: number, score: number) => void;
type VisitMemories = (question: MemoryQuestion, offer: Offer, cutoff: number) => void;

/** The sources of this file. */
type ListedName = MemorySource | 'facts' | 'domain';

/**
 * Memories that fit what a question asks, in an order that texts and vectors do not affect. The score is 1 / (1 + rank), which falls strictly. Costs the memories
 * that fit, whatever the size of the corpus.
 */
class ListedMemories implements CandidateIndex {
  readonly name: ListedName;
  readonly #size: number;
  readonly #visit: VisitMemories;
  readonly #compareTies: (a: number, b: number) => number;

  /** @param compareTies the order of memories that are offered with the same score, negative if the first is better. */
  constructor(
    name: ListedName,
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
        const offer: Offer = (position, score) => {
          if (position < cutoff && (marks === null || marks[position] === 1)) top.offer(position, score);
        };
        this.#visit(asked[query] as MemoryQuestion, offer, cutoff);
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

/** Makes a function that counts, for each turn with one of some names, how many of them it has. */
function createMatchCounter(positions: Int32Array, listNames: (position: number) => Iterable<string>) {
  const listed = new Map<string, number[]>();
  for (const position of positions)
    for (const name of new Set(listNames(position))) getOrCompute(listed, name, () => []).push(position);
  return (names: readonly string[]): ReadonlyMap<number, number> => {
    const matches = new Map<number, number>();
    for (const name of new Set(names))
      for (const position of listed.get(name) ?? []) matches.set(position, (matches.get(position) ?? 0) + 1);
    return matches;
  };
}

/** Memories by how many of the question's entities they have, then by importance, then the newest. Without `entities` of the context: the named things of the texts. */
export function createEntities(_: unknown, { corpus, entities }: IndexContext): CandidateIndex {
  const list = (position: number) => entities?.[position] ?? findEntities(corpus.turns[position]?.text ?? '');
  const countMatches = createMatchCounter(listActive(corpus.turns), list);
  const importance = corpus.turns.map(readImportance);
  const visit: VisitMemories = ({ entities: named }, offer) => {
    for (const [position, count] of countMatches(named)) offer(position, count);
  };
  return new ListedMemories(
    'entities',
    corpus,
    visit,
    (a, b) => (importance[b] as number) - (importance[a] as number) || b - a,
  );
}

/**
 * Facts by how many of the question's entities they are about, then the newest. A fact holds from its turn until the
 * turn that closes it; the closing is not known before that turn. A question about a time gets the facts that held in
 * it, any other those that hold at its moment.
 */
export function createFacts(
  { closedBy }: { readonly closedBy: FactCloser },
  { corpus, entities }: IndexContext,
): CandidateIndex {
  const { turns, timestamps } = corpus;
  const closings = new FactClosings(closedBy);
  for (const turn of turns) closings.add(turn);
  const { closedAt } = closings;
  const stated = turns.map(readMemoryFields);
  const isFact = (_: Turn, position: number) => stated[position]?.object !== undefined;
  const list = (position: number): string[] => {
    const { subject = '', object = '' } = stated[position] as MemoryFields;
    return [subject.toLowerCase(), object.toLowerCase(), ...(entities?.[position] ?? [])];
  };
  const countMatches = createMatchCounter(listActive(turns, isFact), list);
  const visit: VisitMemories = ({ entities: named, window }, offer, cutoff) => {
    for (const [position, count] of countMatches(named)) {
      const closing = closedAt[position] as number;
      const isClosed = closing >= 0 && closing < cutoff;
      const heldAt = window?.start ?? Number.POSITIVE_INFINITY;
      if (isClosed && (timestamps[closing] as number) <= heldAt) continue;
      if (window === null || (timestamps[position] as number) <= window.end) offer(position, count);
    }
  };
  return new ListedMemories('facts', corpus, visit);
}

/**
 * Makes a function that lists the turns with a name: those whose text has its words, one after the other, and those
 * with it in their attribute `entities`. A call costs the turns with the rarest of its words.
 */
function createNameFinder(turns: readonly Turn[], positions: Int32Array): (name: string) => readonly number[] {
  const texts = new Map<number, string>();
  const byWord = new Map<string, number[]>();
  const byEntity = new Map<string, number[]>();
  for (const position of positions) {
    const { text, attributes } = turns[position] as Turn;
    const words = listWords(text);
    texts.set(position, ` ${joinWords(words)} `);
    for (const word of new Set(words.map((placed) => placed.text))) getOrCompute(byWord, word, () => []).push(position);
    for (const entity of (attributes?.entities ?? []) as readonly string[])
      getOrCompute(byEntity, joinWords(listWords(entity)), () => []).push(position);
  }
  return (name) => {
    const lists = name.split(' ').map((word) => byWord.get(word) ?? []);
    const rarest = lists.reduce((least, list) => (list.length < least.length ? list : least));
    const named = rarest.filter((position) => texts.get(position)?.includes(` ${name} `));
    return [...named, ...(byEntity.get(name) ?? [])];
  };
}

/** Turns by how many of the records that a question finds they name, then the newest. */
export function createDomain(_: unknown, { corpus }: IndexContext): CandidateIndex {
  const find = createNameFinder(corpus.turns, listActive(corpus.turns));
  const visit: VisitMemories = ({ records = [] }, offer) => {
    const counts = new Map<number, number>();
    for (const names of records)
      for (const position of new Set(names.flatMap(find))) counts.set(position, (counts.get(position) ?? 0) + 1);
    for (const [position, count] of counts) offer(position, count);
  };
  return new ListedMemories('domain', corpus, visit);
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
