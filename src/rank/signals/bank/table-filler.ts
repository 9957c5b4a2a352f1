import * as tf from '@tensorflow/tfjs-core';
import type { RowBlocks } from '../../../core/tensors/row-blocks.ts';
import { assertShape, gatherRows } from '../../../core/tensors/rows.ts';
import { readBack } from '../../../core/tensors/scope.ts';
import { createEventBreaks } from '../../../core/terminal/progress.ts';
import type { EncoderOptions } from '../../../index/encoders/registry.ts';
import type { Query } from '../../../model/dataset.ts';
import { countBegunSessions } from '../../../model/turns/sessions.ts';
import { keepTurnRows } from '../cosine.ts';
import type { World } from '../signal.ts';
import type { CandidatePool, Column } from '../stage.ts';
import { mapLocalRows, type Subcorpus, type SubcorpusQueries } from '../subcorpus.ts';
import { prepareGraphRelations } from '../turn-concepts.ts';
import { fillLateSignals } from './late-signals.ts';
import {
  listCosineNames,
  listProducts,
  listSignalNames,
  type SignalBankOptions,
  type SignalGroup,
  type SignalProduct,
} from './options.ts';
import { listPairSignals, type PairGroup } from './pair-signals.ts';
import { type AskedQuery, QueryRows, readAskedQuery, type TableColumns } from './query-rows.ts';
import { collectStructureColumns, RANK_SIGNALS } from './sessions.ts';
import { SubcorpusTables } from './subcorpus-tables.ts';

/** Cosines of B queries to all N turns of their subcorpus, by one encoder. */
export class CosineRows {
  /** Row-major [N, B]. */
  readonly #cosines: Float32Array;
  readonly #count: number;

  private constructor(cosines: Float32Array, count: number) {
    this.#cosines = cosines;
    this.#count = count;
  }

  /**
   * @param turns [N, D] unit rows, borrowed
   * @param queries row-major [B, D], unit rows
   * @param count B
   * @throws DimensionMismatchError for queries of another width.
   */
  static async of(turns: RowBlocks, queries: Float32Array, count: number): Promise<CosineRows> {
    const cosines = await readBack('cosineRows', () => {
      const rows = tf.tensor2d(queries, [count, queries.length / count]); // [B, D]
      assertShape('queries', rows, 'B D', { D: turns.dimension });
      // The corpus on the left: 3 times faster on wasm than queries times corpus.
      return turns.multiply(tf.transpose(rows)); // [N, B]
    });
    return new CosineRows(cosines, count);
  }

  /** Copies the cosines of the query in a row to `scores` [N]. */
  copy(row: number, scores: Float64Array): void {
    for (let position = 0; position < scores.length; position++)
      scores[position] = this.#cosines[position * this.#count + row] as number;
  }
}

/** Fills in what the turns of a subcorpus say about its queries: all signals but those of structure and products. */
class SubcorpusSignals {
  readonly #tables: SubcorpusTables;
  readonly #groups: ReadonlySet<SignalGroup>;

  constructor(tables: SubcorpusTables, groups: readonly SignalGroup[]) {
    this.#tables = tables;
    this.#groups = new Set(groups);
  }

  /**
   * @param cutoff turns of the subcorpus that are earlier than the query
   * @param cosines the rows of cosines that hold the query, by signal, and its place in them
   */
  fill(
    rows: QueryRows,
    query: AskedQuery['query'],
    cutoff: number,
    cosines: ReadonlyMap<string, CosineRows>,
    queryIndex: number,
  ): void {
    const asked = readAskedQuery(query, cutoff, this.#tables.authors);
    if (this.#groups.has('text')) {
      this.#fillText(rows, asked);
      this.#fillCosines(rows, asked, cosines, queryIndex);
    }
    for (const group of Object.keys(listPairSignals()) as PairGroup[])
      if (this.#groups.has(group)) this.#fillPairs(rows, asked, group);
    if (this.#groups.has('time')) this.#fillSessionRanks(rows, RANK_SIGNALS.sessions, asked);
    if (this.#groups.has('channel')) this.#fillChannelRanks(rows, asked);
  }

  #fillText(rows: QueryRows, { query, cutoff }: AskedQuery): void {
    const { text, spread, sessions } = this.#tables;
    for (const { name, of, scores } of text.scoreDocuments(query.text, cutoff)) {
      const findDocument = (position: number) =>
        of === 'sessions' ? (sessions.sessionOf[position] as number) : position;
      if (of === 'turns') rows.spread(name, spread, scores, cutoff);
      else rows.write(name, (position) => scores[findDocument(position)] as number);
    }
  }

  #fillCosines(
    rows: QueryRows,
    { cutoff }: AskedQuery,
    cosines: ReadonlyMap<string, CosineRows>,
    queryIndex: number,
  ): void {
    const scores = new Float64Array(this.#tables.corpus.size);
    for (const [name, encoder] of cosines) {
      encoder.copy(queryIndex, scores);
      rows.spread(name, this.#tables.spread, scores, cutoff);
    }
  }

  #fillPairs(rows: QueryRows, asked: AskedQuery, group: PairGroup): void {
    for (const [name, { score }] of Object.entries(listPairSignals()[group]))
      rows.write(name, (position) => score(asked, position, this.#tables));
  }

  /** @param channel of which the sessions are ranked; all of them where it is left out. */
  #fillSessionRanks(
    rows: QueryRows,
    { newest, rank }: typeof RANK_SIGNALS.sessions | typeof RANK_SIGNALS.channelSessions,
    { cutoff }: AskedQuery,
    channel?: string | null,
  ): void {
    const { ranks, sessions } = this.#tables;
    const ranked = ranks.rankSessions(cutoff, channel);
    const readSessionRank = (position: number) => ranked[sessions.sessionOf[position] as number] as number;
    const unranked = countBegunSessions(sessions, cutoff);
    rows.write(newest.name, (position) => (readSessionRank(position) < 0 ? 0 : 1 / (1 + readSessionRank(position))));
    rows.write(rank.name, (position) =>
      Math.log1p(readSessionRank(position) < 0 ? unranked : readSessionRank(position)),
    );
  }

  #fillChannelRanks(rows: QueryRows, asked: AskedQuery): void {
    const { ranks } = this.#tables;
    const { channelTurns: turns, channelSessions: sessions } = RANK_SIGNALS;
    rows.write(turns.newest.name, (position) => 1 / (1 + ranks.countChannelTurnsAfter(position, asked.cutoff)));
    rows.write(turns.rank.name, (position) => Math.log1p(ranks.countChannelTurnsAfter(position, asked.cutoff)));
    this.#fillSessionRanks(rows, sessions, asked, asked.query.channel);
  }
}

/** Every signal of every candidate. */
export interface SignalTable {
  /** [F] names. */
  readonly signals: readonly string[];
  /** Row-major [Q, C, F]; 0 where the pool is padded. */
  readonly values: Float32Array;
}

/** Queries whose cosines to all turns of a subcorpus are on the host at the same time. */
export const QUERY_BLOCK = 64;

/** The query-independent tables, made once for a subcorpus and the groups of a bank. */
function prepareSubcorpusTables(subcorpus: Subcorpus, { groups }: SignalBankOptions): Promise<SubcorpusTables> {
  const make = (earlier?: SubcorpusTables) => SubcorpusTables.of(subcorpus.corpus, groups, earlier);
  return subcorpus.keepOnce(['tables', groups], make, make);
}

/** The encoders of a bank's cosines, by signal; null for the workspace's own. */
function listBankEncoders(options: SignalBankOptions): (readonly [string, EncoderOptions | null])[] {
  if (!options.groups.includes('text')) return [];
  return listCosineNames(options).map((name, i) => [name, options.encoders[i - 1] ?? null]);
}

/** Builds everything a bank needs that does not depend on the queries. */
export async function prepareSignals(world: World, options: SignalBankOptions): Promise<void> {
  if (options.groups.includes('graph')) await prepareGraphRelations(world);
  for (const { subcorpus } of world.subcorpora.split(world.batch)) {
    await prepareSubcorpusTables(subcorpus, options);
    for (const [, encoder] of listBankEncoders(options)) await keepTurnRows(world, subcorpus, encoder);
  }
}

/** Cosines of some queries to all turns of their subcorpus, by signal. @param wanted which signals */
export async function computeScopeCosines(
  world: World,
  options: SignalBankOptions,
  subcorpus: Subcorpus,
  queryIndexes: readonly number[],
  wanted: (signal: string) => boolean = () => true,
): Promise<Map<string, CosineRows>> {
  const cosines = new Map<string, CosineRows>();
  for (const [name, encoder] of listBankEncoders(options)) {
    if (!wanted(name)) continue;
    const turns = await keepTurnRows(world, subcorpus, encoder);
    const { dimension, queryVectors } = await world.embedWith(encoder);
    cosines.set(
      name,
      await CosineRows.of(turns, gatherRows(queryVectors, dimension, queryIndexes), queryIndexes.length),
    );
  }
  return cosines;
}

/** Fills a table of signals, subcorpus by subcorpus. */
class TableFiller {
  readonly #world: World;
  readonly #pool: CandidatePool;
  readonly #options: SignalBankOptions;
  readonly #table: TableColumns;
  /** [Q, C] each. */
  readonly #whole: ReadonlyMap<string, Column>;
  readonly #products: readonly SignalProduct[];

  /** @param whole columns that are there for all pairs. */
  constructor(
    world: World,
    pool: CandidatePool,
    options: SignalBankOptions,
    table: TableColumns,
    whole: ReadonlyMap<string, Column>,
  ) {
    this.#world = world;
    this.#pool = pool;
    this.#options = options;
    this.#table = table;
    this.#whole = whole;
    this.#products = listProducts().filter(({ name }) => table.columns.has(name));
  }

  /** What is already there for all pairs, and what is made of signals that are. */
  #fillRest(rows: QueryRows, query: number): void {
    const first = query * this.#pool.width;
    for (const [name, column] of this.#whole) rows.write(name, (_, queryIndex) => column[first + queryIndex] as number);
    for (const { name, of } of this.#products) rows.multiply(name, of);
  }

  async #fillLate(
    part: SubcorpusQueries,
    tables: SubcorpusTables,
    positions: Int32Array,
    open: (row: number) => QueryRows,
  ): Promise<void> {
    const { groups, around } = this.#options;
    if (!groups.includes('late')) return;
    const ask = (row: number) => {
      const query = this.#world.queries[part.queryIndexes[row] as number] as Query;
      return { rows: open(row), asked: readAskedQuery(query, part.batch.cutoffs[row] as number, tables.authors) };
    };
    await fillLateSignals(
      this.#world,
      part,
      tables,
      { author: groups.includes('author'), ...(around && { around }) },
      positions,
      ask,
    );
  }

  /** @param filled is called after each query. */
  async fill({ subcorpus, queryIndexes, batch }: SubcorpusQueries, filled: () => void): Promise<void> {
    const { width } = this.#pool;
    const tables = await prepareSubcorpusTables(subcorpus, this.#options);
    const signals = new SubcorpusSignals(tables, this.#options.groups);
    const positions = mapLocalRows(subcorpus, this.#pool, queryIndexes);
    const open = (row: number) =>
      new QueryRows(this.#table, queryIndexes[row] as number, positions.subarray(row * width, (row + 1) * width));
    await this.#fillLate({ subcorpus, queryIndexes, batch }, tables, positions, open);
    const pause = createEventBreaks();
    for (let first = 0; first < queryIndexes.length; first += QUERY_BLOCK) {
      const block = queryIndexes.slice(first, first + QUERY_BLOCK);
      const cosines = await computeScopeCosines(this.#world, this.#options, subcorpus, block);
      for (const [i, query] of block.entries()) {
        const row = first + i;
        const rows = open(row);
        const asked = this.#world.queries[query] as Query;
        signals.fill(rows, asked, batch.cutoffs[row] as number, cosines, i);
        this.#fillRest(rows, query);
        filled();
        await pause();
      }
    }
  }
}

/** Every signal of a bank for every candidate of a pool, subcorpus by subcorpus. @param columns the signals that are columns already. */
export async function fillSignalTable(
  {
    world,
    pool,
    inputs,
  }: { readonly world: World; readonly pool: CandidatePool; readonly inputs: Readonly<Record<string, unknown>> },
  options: SignalBankOptions,
  columns: readonly string[],
): Promise<SignalTable> {
  const signals = listSignalNames(options);
  const values = new Float32Array(pool.positions.length * signals.length);
  const table = { values, columns: new Map(signals.map((name, column) => [name, column])) };
  const structure = options.groups.includes('structure') ? collectStructureColumns(inputs) : [];
  const added = [...columns, ...Object.keys(options.plugins ?? {})].map(
    (name) => [name, inputs[name] as Column] as const,
  );
  const filler = new TableFiller(world, pool, options, table, new Map([...structure, ...added]));
  const stage = world.startProgress('signals', world.queries.length);
  let done = 0;
  for (const part of world.subcorpora.split(world.batch)) await filler.fill(part, () => stage.update(++done));
  stage.finish(`${signals.length} signals`);
  return { signals, values };
}
