import * as tf from '@tensorflow/tfjs-core';
import { eventBreaks } from '../../core/event-loop.ts';
import { gatherRows } from '../../core/rows.ts';
import type { EncoderOptions } from '../../embedding/registry.ts';
import type { Query } from '../../model/dataset.ts';
import type { CandidatePool } from '../candidate-pool.ts';
import type { Column } from '../column.ts';
import { localRows, type Scope, type ScopedQueries, scopedVectors } from '../conversation-scope.ts';
import { defineStage, type StageUse, type World } from '../signal.ts';
import { CosineRows } from './cosine-rows.ts';
import { bankSignals, cosineNames, type SignalBankOptions, signalNames } from './options.ts';
import { PRODUCTS } from './products.ts';
import { QueryRows, type TableColumns } from './query-rows.ts';
import { ScopeSignals } from './scope-signals.ts';
import { ScopeTables } from './scope-tables.ts';
import { structureColumns, structureInputs } from './structure.ts';

/** Queries whose cosines to all turns of a scope are on the host at the same time. */
export const QUERY_BLOCK = 64;

/** Every signal of every candidate. */
export interface SignalTable {
  /** [F] names. */
  readonly signals: readonly string[];
  /** Row-major [Q, C, F]; 0 where the pool is padded. */
  readonly values: Float32Array;
}

/** The query-independent tables, made once for a scope and the groups of a bank. */
function tablesOf({ shared }: World, scope: Scope, { groups }: SignalBankOptions): Promise<ScopeTables> {
  return shared.once(['scope tables', scope.conversationId, groups], () => ScopeTables.of(scope.corpus, groups));
}

/** The turns of a scope as an encoder has them, [N, D] on the device until the workspace is disposed. */
function turnTensor({ shared }: World, scope: Scope, options: EncoderOptions | null): Promise<tf.Tensor2D> {
  if (options === null && scope.conversationId === null) return shared.corpusTensor();
  return shared.once(['scope tensor', scope.conversationId, options], async () => {
    const { dimension, turnVectors } = await shared.encoding(options);
    const vectors = scopedVectors(scope, turnVectors, dimension);
    return shared.own(tf.tensor2d(vectors, [scope.corpus.size, dimension]));
  });
}

/** The encoders of a bank's cosines, by signal; null for the workspace's own. */
function encodersOf(options: SignalBankOptions): (readonly [string, EncoderOptions | null])[] {
  if (!options.groups.includes('text')) return [];
  return cosineNames(options).map((name, i) => [name, options.encoders[i - 1] ?? null]);
}

/** Builds everything a bank needs that does not depend on the queries. */
export async function prepareSignals(world: World, options: SignalBankOptions): Promise<void> {
  for (const { scope } of world.scopes.split(world.batch)) {
    await tablesOf(world, scope, options);
    for (const [, encoder] of encodersOf(options)) await turnTensor(world, scope, encoder);
  }
}

/** Cosines of some queries to all turns of their scope, by signal. @param wanted which signals */
export async function scopeCosines(
  world: World,
  options: SignalBankOptions,
  scope: Scope,
  places: readonly number[],
  wanted: (signal: string) => boolean = () => true,
): Promise<Map<string, CosineRows>> {
  const cosines = new Map<string, CosineRows>();
  for (const [name, encoder] of encodersOf(options)) {
    if (!wanted(name)) continue;
    const turns = await turnTensor(world, scope, encoder);
    const { dimension, queryVectors } = await world.encoding(encoder);
    cosines.set(name, await CosineRows.of(turns, gatherRows(queryVectors, dimension, places), places.length));
  }
  return cosines;
}

/** Fills a table of signals, scope by scope. */
class TableFiller {
  readonly #world: World;
  readonly #pool: CandidatePool;
  readonly #options: SignalBankOptions;
  readonly #table: TableColumns;
  /** [Q, C] each. */
  readonly #structure: ReadonlyMap<string, Column>;
  readonly #products: typeof PRODUCTS;

  constructor(
    world: World,
    pool: CandidatePool,
    options: SignalBankOptions,
    table: TableColumns,
    structure: ReadonlyMap<string, Column>,
  ) {
    this.#world = world;
    this.#pool = pool;
    this.#options = options;
    this.#table = table;
    this.#structure = structure;
    this.#products = PRODUCTS.filter(({ name }) => table.columns.has(name));
  }

  /** What is already there for all pairs, and what is made of signals that are. */
  #fillRest(rows: QueryRows, query: number): void {
    const first = query * this.#pool.width;
    for (const [name, column] of this.#structure) rows.write(name, (_, place) => column[first + place] as number);
    for (const { name, of } of this.#products) rows.multiply(name, of);
  }

  /** @param filled is called after each query. */
  async fill({ scope, places, batch }: ScopedQueries, filled: () => void): Promise<void> {
    const { width } = this.#pool;
    const signals = new ScopeSignals(await tablesOf(this.#world, scope, this.#options), this.#options.groups);
    const positions = localRows(scope, this.#pool, places);
    const pause = eventBreaks();
    for (let first = 0; first < places.length; first += QUERY_BLOCK) {
      const block = places.slice(first, first + QUERY_BLOCK);
      const cosines = await scopeCosines(this.#world, this.#options, scope, block);
      for (const [i, query] of block.entries()) {
        const row = first + i;
        const rows = new QueryRows(this.#table, query, positions.subarray(row * width, (row + 1) * width));
        const asked = this.#world.queries[query] as Query;
        signals.fill(rows, asked, batch.cutoffs[row] as number, cosines, i);
        this.#fillRest(rows, query);
        filled();
        await pause();
      }
    }
  }
}

/** Every signal of a bank for every candidate of a pool, as of each query's moment. */
export const signalTable = defineStage<SignalBankOptions, SignalTable, Readonly<Record<string, StageUse<unknown>>>>({
  name: 'signals',
  module: import.meta.url,
  of: 'pairs',
  reads: (options) => [...new Set(bankSignals(options).flatMap(({ reads }) => reads))],
  key: ({ groups, encoders }, setting) => [groups, encoders.map((encoder) => setting.encoderIdentity(encoder))],
  inputs: ({ groups }, setting) => (groups.includes('structure') ? structureInputs(setting) : {}),
  compute: async ({ world, pool, inputs }, options) => {
    const signals = signalNames(options);
    const values = new Float32Array(pool.positions.length * signals.length);
    const table = { values, columns: new Map(signals.map((name, column) => [name, column])) };
    const hasStructure = options.groups.includes('structure');
    const structure = hasStructure ? structureColumns(inputs) : new Map<string, Column>();
    const filler = new TableFiller(world, pool, options, table, structure);
    const stage = world.startProgress('signals', world.queries.length);
    let done = 0;
    for (const part of world.scopes.split(world.batch)) await filler.fill(part, () => stage.update(++done));
    stage.finish(`${signals.length} signals`);
    return { signals, values };
  },
});
