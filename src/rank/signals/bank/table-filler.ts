import * as tf from '@tensorflow/tfjs-core';
import { gatherRows } from '../../../core/tensors/rows.ts';
import { createEventBreaks } from '../../../core/values/event-loop.ts';
import type { EncoderOptions } from '../../../index/encoders/registry.ts';
import type { Query } from '../../../model/dataset.ts';
import type { CandidatePool, Column } from '../candidate-pool.ts';
import { prepareGraphRelations } from '../graph-relations.ts';
import type { World } from '../signal.ts';
import { mapLocalRows, type Subcorpus, type SubcorpusQueries, selectScopeVectors } from '../subcorpus.ts';
import { CosineRows } from './cosine-rows.ts';
import { listCosineNames, listSignalNames, PRODUCTS, type SignalBankOptions } from './options.ts';
import { QueryRows, type TableColumns } from './query-rows.ts';
import { collectStructureColumns } from './structure.ts';
import { SubcorpusSignals } from './subcorpus-signals.ts';
import { SubcorpusTables } from './subcorpus-tables.ts';

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
function prepareSubcorpusTables(
  { shared }: World,
  subcorpus: Subcorpus,
  { groups }: SignalBankOptions,
): Promise<SubcorpusTables> {
  return shared.keepOnce(['subcorpus tables', subcorpus.conversationId, groups], () =>
    SubcorpusTables.of(subcorpus.corpus, groups),
  );
}

/** The turns of a subcorpus as an encoder has them, [N, D] on the device until the workspace is disposed. */
function getTurnTensor({ shared }: World, subcorpus: Subcorpus, options: EncoderOptions | null): Promise<tf.Tensor2D> {
  if (options === null && subcorpus.conversationId === null) return shared.getCorpusTensor();
  return shared.keepOnce(['subcorpus tensor', subcorpus.conversationId, options], async () => {
    const { dimension, turnVectors } = await shared.embedWith(options);
    const vectors = selectScopeVectors(subcorpus, turnVectors, dimension);
    return shared.keepResource(tf.tensor2d(vectors, [subcorpus.corpus.size, dimension]));
  });
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
    await prepareSubcorpusTables(world, subcorpus, options);
    for (const [, encoder] of listBankEncoders(options)) await getTurnTensor(world, subcorpus, encoder);
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
    const turns = await getTurnTensor(world, subcorpus, encoder);
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
  readonly #products: typeof PRODUCTS;

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
    this.#products = PRODUCTS.filter(({ name }) => table.columns.has(name));
  }

  /** What is already there for all pairs, and what is made of signals that are. */
  #fillRest(rows: QueryRows, query: number): void {
    const first = query * this.#pool.width;
    for (const [name, column] of this.#whole) rows.write(name, (_, queryIndex) => column[first + queryIndex] as number);
    for (const { name, of } of this.#products) rows.multiply(name, of);
  }

  /** @param filled is called after each query. */
  async fill({ subcorpus, queryIndexes, batch }: SubcorpusQueries, filled: () => void): Promise<void> {
    const { width } = this.#pool;
    const signals = new SubcorpusSignals(
      await prepareSubcorpusTables(this.#world, subcorpus, this.#options),
      this.#options.groups,
    );
    const positions = mapLocalRows(subcorpus, this.#pool, queryIndexes);
    const pause = createEventBreaks();
    for (let first = 0; first < queryIndexes.length; first += QUERY_BLOCK) {
      const block = queryIndexes.slice(first, first + QUERY_BLOCK);
      const cosines = await computeScopeCosines(this.#world, this.#options, subcorpus, block);
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
