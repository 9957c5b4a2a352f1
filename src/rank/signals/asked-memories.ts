import { createEventBreaks, ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import type { DomainIndexOptions } from '../../index/memories/memory-options.ts';
import { hashRunFile } from '../../index/runs/run-options.ts';
import type { MemoryQuestion } from '../../model/candidates.ts';
import { findEntities } from '../../model/text/entities.ts';
import { findLowerBound } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import type { DomainRecords } from '../query/domain/domain-records.ts';
import type { EntityRegistry } from '../query/entity-registry.ts';
import type { StrategyName } from '../query/strategy.ts';
import { computeEach, defineStage, type StageUse, type World } from './signal.ts';
import { type SubcorpusQueries, selectScopeValues } from './subcorpus.ts';

/** The time zone in which the times of questions are read. */
const TIME_ZONE = 'UTC';

/** What each of N turns is about. */
export interface TurnEntities {
  /** True if the entities are the attribute `entities`, and not the named things of the texts. */
  readonly areGiven: boolean;
  /** [N] canonical ids, or named things in lower case. */
  readonly entities: readonly (readonly string[])[];
}

/** The named things of the text of each turn. */
async function findNamedThings(turns: readonly Turn[], startProgress: StartProgress): Promise<string[][]> {
  const progress = startProgress('entities of turns', turns.length);
  const pause = createEventBreaks();
  const entities: string[][] = [];
  for (const { text } of turns) {
    entities.push([...findEntities(text)]);
    progress.update(entities.length);
    await pause();
  }
  progress.finish(`entities of ${turns.length} turns`);
  return entities;
}

/** The attribute `entities` of turns, in a list that grows. */
class GivenEntities {
  /** True if any turn has the attribute. */
  areGiven = false;
  /** [turns so far] the attribute; [] for a turn without one. */
  readonly entities: (readonly string[])[] = [];

  /** @param turns that begin with those so far. */
  growWith(turns: readonly Turn[]): this {
    for (const { attributes } of turns.slice(this.entities.length)) {
      if (attributes?.entities !== undefined) this.areGiven = true;
      this.entities.push((attributes?.entities as readonly string[] | undefined) ?? []);
    }
    return this;
  }
}

/** The attribute `entities` of each turn where any turn has one, else the named things of its text. */
export async function listTurnEntities(turns: readonly Turn[]): Promise<TurnEntities> {
  const { areGiven, entities } = new GivenEntities().growWith(turns);
  return { areGiven, entities: areGiven ? entities : await findNamedThings(turns, ignoreProgress) };
}

/** The same of every turn of a world, and of those that come after them; later turns are read at their cost alone. */
async function listWorldEntities(world: World): Promise<TurnEntities> {
  const { corpus, subcorpora, startProgress } = world;
  const { areGiven, entities } = await subcorpora.whole.keepOnce(
    'given entities',
    () => new GivenEntities().growWith(corpus.turns),
    (earlier) => earlier.growWith(corpus.turns),
  );
  if (areGiven) return { areGiven, entities };
  const start = (): (readonly string[])[] => [];
  const find = (turns: readonly Turn[]) => findNamedThings(turns, startProgress);
  return { areGiven, entities: await computeEach(world, 'entities', start, find) };
}

/** The entities of every turn: its attribute `entities` where any turn has one, else the named things of its text. */
export const turnEntities = defineStage<null, TurnEntities>({
  name: 'turn-entities',
  module: import.meta.url,
  of: 'turns',
  reads: ['texts', 'attributes'],
  compute: ({ world }) => listWorldEntities(world),
});

/** What each of Q questions asks of memories. */
export interface AskedMemories {
  /** [Q] */
  readonly strategies: readonly StrategyName[];
  /** [Q] the ids or named things that each question names, once each. */
  readonly entities: readonly (readonly string[])[];
  /** [Q, 2] the first and the last millisecond that each question is about; NaN for a question without a time. */
  readonly windows: Float64Array;
}

/** [Q] the same as indexes of memories read it. */
export function listMemoryQuestions({ strategies, entities, windows }: AskedMemories): MemoryQuestion[] {
  return strategies.map((strategy, query) => {
    const [start, end] = [windows[2 * query] as number, windows[2 * query + 1] as number];
    return {
      entities: entities[query] as readonly string[],
      window: Number.isNaN(start) ? null : { start, end },
      // The first condition of the choice of a strategy.
      procedural: strategy === 'procedural',
    };
  });
}

/** The name of a canonical id: what follows its type in `customer:kai-media`. */
function readEntityName(id: string): string {
  const name = id.slice(id.indexOf(':') + 1);
  return /[\p{L}\p{N}]/u.test(name) ? name : id;
}

/** The entities of some turns, as of one moment after the other. */
export class KnownEntities {
  #turns = 0;
  readonly #known = new Set<string>();
  readonly #ids: string[] = [];
  /** Where each id occurs first, ascending. */
  readonly #positions: number[] = [];
  #registry: EntityRegistry | null = null;
  #size = -1;

  /** @param entities of each turn, in time order. */
  constructor(entities: readonly (readonly string[])[]) {
    this.growWith(entities);
  }

  /** @param entities of turns that begin with those so far. */
  growWith(entities: readonly (readonly string[])[]): this {
    for (; this.#turns < entities.length; this.#turns++) for (const id of entities[this.#turns] ?? []) this.#add(id);
    return this;
  }

  /** @param id of the turn that is read. */
  #add(id: string): void {
    if (this.#known.has(id) || !/[\p{L}\p{N}]/u.test(id)) return;
    this.#known.add(id);
    this.#ids.push(id);
    this.#positions.push(this.#turns);
  }

  /** Those of the turns before a cutoff. */
  async open(cutoff: number): Promise<EntityRegistry> {
    const size = findLowerBound(this.#positions, cutoff);
    if (this.#registry === null || size !== this.#size) {
      const known = this.#ids.slice(0, size);
      const { createEntityRegistry } = await import('../query/entity-registry.ts');
      this.#registry = await createEntityRegistry(known.map((id) => ({ id, name: readEntityName(id) })));
    }
    this.#size = size;
    return this.#registry;
  }
}

/** The entities that each question of a part may name; null where they are the named things of texts. */
async function openKnown({ subcorpus }: SubcorpusQueries, { areGiven, entities }: TurnEntities) {
  if (!areGiven) return null;
  return subcorpus.keepOnce(
    'known entities',
    () => new KnownEntities(selectScopeValues(subcorpus, entities)),
    (earlier) => earlier.growWith(selectScopeValues(subcorpus, entities)),
  );
}

/**
 * What each question asks of memories: its strategy, its entities and its time, by rules. Canonical ids are known from the turns that the question asks and that are earlier.
 */
export const askedMemories = defineStage<null, AskedMemories, { readonly turns: StageUse<TurnEntities> }>({
  name: 'asked-memories',
  module: import.meta.url,
  of: 'queries',
  reads: ['texts', 'attributes', 'times', 'clock'],
  inputs: () => ({ turns: turnEntities(null) }),
  compute: ({ world, inputs: { turns } }) => understandAll(world, turns),
});

/** What one question asks of memories. */
export interface AskedMemory extends MemoryQuestion {
  readonly strategy: StrategyName;
}

/**
 * What a question asks of memories.
 *
 * @param known the entities that questions may name; null: the named things of texts.
 * @param cutoff how many of the turns of `known` are earlier.
 */
export async function askMemory(
  text: string,
  { timestamp, timeZone = TIME_ZONE }: { readonly timestamp: number; readonly timeZone?: string },
  known: KnownEntities | null,
  cutoff: number,
): Promise<AskedMemory> {
  const { understand } = await import('../query/understand.ts');
  const asked = await understand(text, { timestamp, timeZone, entities: await known?.open(cutoff) });
  const { name: strategy } = asked.strategy;
  const range = asked.timeRange;
  return {
    ...{ strategy, procedural: strategy === 'procedural' },
    entities: known ? asked.entities.map(({ canonicalId }) => canonicalId) : [...findEntities(text)],
    window: range === null ? null : { start: range.start, end: range.end - 1 },
  };
}

async function understandAll({ queries, batch, subcorpora, startProgress }: World, turns: TurnEntities) {
  const strategies: StrategyName[] = Array(queries.length).fill('exploratory');
  const entities: (readonly string[])[] = queries.map(() => []);
  const windows = new Float64Array(2 * queries.length).fill(Number.NaN);
  const progress = startProgress('questions', queries.length);
  let done = 0;
  for (const part of subcorpora.split(batch)) {
    const known = await openKnown(part, turns);
    for (const [row, query] of part.queryIndexes.entries()) {
      const { text, timestamp } = queries[query] as (typeof queries)[number];
      if (text.trim() !== '') {
        const asked = await askMemory(text, { timestamp }, known, part.batch.cutoffs[row] as number);
        strategies[query] = asked.strategy;
        entities[query] = asked.entities;
        if (asked.window !== null) windows.set([asked.window.start, asked.window.end], 2 * query);
      }
      progress.update(++done);
    }
  }
  progress.finish(`${queries.length} questions`);
  return { strategies, entities, windows };
}

/** The records of a database that each of Q questions finds. */
export interface FoundRecords {
  /** [Q] the names of each record. */
  readonly names: readonly (readonly (readonly string[])[])[];
}

/** A database that is kept open while questions are asked. */
interface OpenRecords {
  readonly records: DomainRecords;
  dispose(): void;
}

async function openRecords({ domain, database: path }: DomainIndexOptions): Promise<OpenRecords> {
  const [{ readDomain }, { DomainRecords }, { openDuckDb }] = await Promise.all([
    import('../query/domain/domain-options.ts'),
    import('../query/domain/domain-records.ts'),
    import('../query/domain/duckdb-database.ts'),
  ]);
  const database = await openDuckDb(path);
  try {
    const records = new DomainRecords({ database, domain: readDomain(domain), timeZone: TIME_ZONE });
    return { records, dispose: () => void database.dispose() };
  } catch (error) {
    await database.dispose();
    throw error;
  }
}

async function findAllRecords({ queries, shared, startProgress }: World, options: DomainIndexOptions) {
  const { records } = await shared.keepOnce(['domain', options.domain, options.database], () => openRecords(options));
  const progress = startProgress('records of questions', queries.length);
  const names: string[][][] = [];
  for (const { text, timestamp } of queries) {
    const found = text.trim() === '' ? [] : await records.find(text, { now: timestamp });
    names.push(await records.nameRecords(found));
    progress.update(names.length);
  }
  progress.finish(`records of ${queries.length} questions`);
  return { names };
}

/** The records that each question finds in a database, by the names with which turns may name them. */
export const foundRecords = defineStage<DomainIndexOptions, FoundRecords>({
  name: 'found-records',
  module: import.meta.url,
  of: 'queries',
  reads: ['times', 'clock'],
  key: (options) => [options.domain, hashRunFile({ path: options.database, hash: options.hash })],
  compute: ({ world }, options) => findAllRecords(world, options),
});

/** [Q] the same as the index `domain` reads it. */
export function listRecordQuestions({ names }: FoundRecords): MemoryQuestion[] {
  return names.map((records) => ({ entities: [], window: null, procedural: false, records }));
}
