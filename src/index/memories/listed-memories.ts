import { gatherRows } from '../../core/tensors/rows.ts';
import { createEventBreaks, ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import { getOrCompute } from '../../core/values/once.ts';
import type { CandidateIndex, Candidates, MemoryQuestion, QueryBatch } from '../../model/candidates.ts';
import { findEntities } from '../../model/text/entities.ts';
import { joinWords, listWords } from '../../model/text/tokens.ts';
import { findLowerBound } from '../../model/turns/corpus.ts';
import { FactClosings } from '../../model/turns/fact-closings.ts';
import { type FactCloser, isActive, readImportance, readMemoryFields } from '../../model/turns/memory-fields.ts';
import type { Turn } from '../../model/turns/turn.ts';
import type { GrowingIndex, IndexContext } from '../candidates/index-definition.ts';
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

/** Offers the memories that fit a question, with what they are ordered by first: larger is better. */
type Offer = (position: number, score: number) => void;

/** When a question is asked: after the turns before `cutoff`. */
interface Moment {
  readonly cutoff: number;
  /** Milliseconds since 1970 of all turns of the source. */
  readonly timestamps: Float64Array;
}

/** The part of a source that reads turns and finds them. */
interface ListedTurns {
  /**
   * Reads one more turn, in the order of time.
   *
   * @param entities of the context.
   */
  read(turn: Turn, position: number, entities?: readonly string[]): void;
  visit(question: MemoryQuestion, offer: Offer, moment: Moment): void;
  /** The order of memories that are offered with the same score, negative if the first is better; default newest first. */
  compareTies?(a: number, b: number): number;
}

/** The sources of this file that list what they find. */
type ListedName = MemorySource | 'facts' | 'domain';

/**
 * Memories that fit what a question asks, in an order that texts and vectors do not affect. The score is 1 / (1 + rank), which falls strictly. Costs the memories
 * that fit, whatever the size of the corpus. Later turns are read at their cost alone.
 */
class ListedMemories implements GrowingIndex {
  readonly name: ListedName;
  readonly #listed: ListedTurns;
  /** The turns that were read. */
  #size = 0;
  #timestamps: Float64Array = new Float64Array(0);
  readonly #compareTies: (a: number, b: number) => number;

  constructor(name: ListedName, listed: ListedTurns, context: IndexContext) {
    this.name = name;
    this.#listed = listed;
    this.#compareTies = listed.compareTies ?? ((a, b) => b - a);
    this.#read(context);
  }

  /** @param context whose first entities are those that the index has read. */
  async growWith(context: IndexContext): Promise<void> {
    this.#read(context);
  }

  #read({ corpus: { turns, size, timestamps }, entities }: IndexContext): void {
    for (; this.#size < size; this.#size++)
      this.#listed.read(turns[this.#size] as Turn, this.#size, entities?.[this.#size]);
    this.#timestamps = timestamps;
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
        this.#listed.visit(asked[query] as MemoryQuestion, offer, { cutoff, timestamps: this.#timestamps });
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

/** Turns by their names. */
class NamedTurns {
  readonly #listed = new Map<string, number[]>();

  add(position: number, names: Iterable<string>): void {
    for (const name of new Set(names)) getOrCompute(this.#listed, name, () => []).push(position);
  }

  /** For each turn with one of some names, how many of them it has. */
  countMatches(names: readonly string[]): ReadonlyMap<number, number> {
    const matches = new Map<number, number>();
    for (const name of new Set(names))
      for (const position of this.#listed.get(name) ?? []) matches.set(position, (matches.get(position) ?? 0) + 1);
    return matches;
  }
}

/** Memories by how many of the question's entities they have, then by importance, then the newest. Without `entities` of the context: the named things of the texts. */
export function createEntities(_: unknown, context: IndexContext): CandidateIndex {
  const named = new NamedTurns();
  const importance: number[] = [];
  return new ListedMemories(
    'entities',
    {
      read: (turn, position, entities) => {
        importance.push(readImportance(turn));
        if (isActive(turn)) named.add(position, entities ?? findEntities(turn.text));
      },
      visit: ({ entities }, offer) => {
        for (const [position, count] of named.countMatches(entities)) offer(position, count);
      },
      compareTies: (a, b) => (importance[b] as number) - (importance[a] as number) || b - a,
    },
    context,
  );
}

/**
 * Facts by how many of the question's entities they are about, then the newest. A fact holds from its turn until the
 * turn that closes it; the closing is not known before that turn. A question about a time gets the facts that held in
 * it, any other those that hold at its moment.
 */
export function createFacts({ closedBy }: { readonly closedBy: FactCloser }, context: IndexContext): CandidateIndex {
  const named = new NamedTurns();
  const closings = new FactClosings(closedBy);
  return new ListedMemories(
    'facts',
    {
      read: (turn, position, entities = []) => {
        closings.add(turn);
        if (!isActive(turn)) return;
        const { subject = '', object } = readMemoryFields(turn);
        if (object !== undefined) named.add(position, [subject.toLowerCase(), object.toLowerCase(), ...entities]);
      },
      visit: ({ entities, window }, offer, { cutoff, timestamps }) => {
        const { closedAt } = closings;
        for (const [position, count] of named.countMatches(entities)) {
          const closing = closedAt[position] as number;
          const isClosed = closing >= 0 && closing < cutoff;
          const heldAt = window?.start ?? Number.POSITIVE_INFINITY;
          if (isClosed && (timestamps[closing] as number) <= heldAt) continue;
          if (window === null || (timestamps[position] as number) <= window.end) offer(position, count);
        }
      },
    },
    context,
  );
}

/** Turns by the words of their texts, and by the words of the entities in their attribute `entities`. */
class WordedTurns {
  readonly #texts = new Map<number, string>();
  readonly #byWord = new Map<string, number[]>();
  readonly #byEntity = new Map<string, number[]>();

  add(position: number, { text, attributes }: Turn): void {
    const words = listWords(text);
    this.#texts.set(position, ` ${joinWords(words)} `);
    for (const word of new Set(words.map((placed) => placed.text)))
      getOrCompute(this.#byWord, word, () => []).push(position);
    for (const entity of (attributes?.entities ?? []) as readonly string[])
      getOrCompute(this.#byEntity, joinWords(listWords(entity)), () => []).push(position);
  }

  /**
   * The turns with a name: those whose text has its words, one after the other, and those with it in their attribute
   * `entities`. Costs the turns with the rarest of its words.
   */
  find(name: string): readonly number[] {
    const lists = name.split(' ').map((word) => this.#byWord.get(word) ?? []);
    const rarest = lists.reduce((least, list) => (list.length < least.length ? list : least));
    const named = rarest.filter((position) => this.#texts.get(position)?.includes(` ${name} `));
    return [...named, ...(this.#byEntity.get(name) ?? [])];
  }
}

/** Turns by how many of the records that a question finds they name, then the newest. */
export function createDomain(_: unknown, context: IndexContext): CandidateIndex {
  const worded = new WordedTurns();
  return new ListedMemories(
    'domain',
    {
      read: (turn, position) => {
        if (isActive(turn)) worded.add(position, turn);
      },
      visit: ({ records = [] }, offer) => {
        const counts = new Map<number, number>();
        for (const names of records)
          for (const position of new Set(names.flatMap((name) => worded.find(name))))
            counts.set(position, (counts.get(position) ?? 0) + 1);
        for (const [position, count] of counts) offer(position, count);
      },
    },
    context,
  );
}

/** The newest memories within the time that a question is about; none for a question without a time. */
export function createTime(_: unknown, context: IndexContext): CandidateIndex {
  const positions: number[] = [];
  const times: number[] = [];
  return new ListedMemories(
    'time',
    {
      read: (turn, position) => {
        if (!isActive(turn)) return;
        positions.push(position);
        times.push(turn.timestamp);
      },
      visit: ({ window }, offer) => {
        if (window === null) return;
        for (let i = findLowerBound(times, window.start); i < times.length && (times[i] as number) <= window.end; i++)
          offer(positions[i] as number, 0);
      },
    },
    context,
  );
}

/** The newest summaries, of sessions for a question about a time and global ones for others; a summary without a `scope` is both. */
export function createSummaries(_: unknown, context: IndexContext): CandidateIndex {
  const summaries: { readonly position: number; readonly of: unknown }[] = [];
  return new ListedMemories(
    'summaries',
    {
      read: (turn, position) => {
        const { memoryType, scope } = turn.attributes ?? {};
        if (memoryType === 'summary' && isActive(turn)) summaries.push({ position, of: scope });
      },
      visit: ({ window }, offer) => {
        const scope = window === null ? 'global' : 'session';
        for (const { position, of } of summaries) if ((of ?? scope) === scope) offer(position, 0);
      },
    },
    context,
  );
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
    const positions = Int32Array.from(
      [...turns.keys()].filter((position) => isActive(turns[position] as Turn) && isSearched(turns[position] as Turn)),
    );
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
