import * as tf from '@tensorflow/tfjs-core';
import { matmul } from '../../../core/tensors/matmul.ts';
import { readBack } from '../../../core/tensors/scope.ts';
import { createEventBreaks } from '../../../core/terminal/progress.ts';
import { groupSessions } from '../../../model/turns/sessions.ts';
import type { Signal, World } from '../signal.ts';
import type { CandidatePool, Column } from '../stage.ts';
import { mapLocalRows, type SubcorpusQueries } from '../subcorpus.ts';
import { standardiseQuestions } from './normalisation.ts';
import {
  createColumnSignals,
  listAddedSignals,
  listProducts,
  listSignalNames,
  type ScoringOptions,
  type SignalBankOptions,
  type SignalProduct,
} from './options.ts';
import { QueryRows, type TableColumns } from './query-rows.ts';
import { collectStructureColumns, listStructureInputs, listStructureSignals, SPREAD, Spread } from './sessions.ts';
import { type SignalTable, signalTable } from './signal-bank.ts';
import { computeScopeCosines, QUERY_BLOCK } from './table-filler.ts';

/** Numbers of a table on the device at a time: 64 MB. */
const BLOCK = 2 ** 24;

/** Signals that the weights of a mix multiply: those of its bank; by question those with a weight, standardised. */
export async function readMixedSignals(
  world: World,
  pool: CandidatePool,
  { signals: bank, weights, normalise }: ScoringOptions,
): Promise<SignalTable> {
  const table = await world.get(signalTable(bank), pool);
  if (normalise !== 'question') return table;
  const signals = table.signals.filter((name) => (weights[name] ?? 0) !== 0);
  const columns = signals.map((name) => table.signals.indexOf(name));
  const mask = Uint8Array.from(pool.positions, (position) => (position < 0 ? 0 : 1));
  const { width } = pool;
  const { values } = table;
  return { signals, values: standardiseQuestions({ values, stride: table.signals.length, columns, width, mask }) };
}

/**
 * Every candidate's weighted sum of signals.
 *
 * @returns [Q, C]; 0 where the pool is padded.
 */
export async function mixSignals(world: World, pool: CandidatePool, options: ScoringOptions): Promise<Column> {
  const { signals: names, values } = await readMixedSignals(world, pool, options);
  const F = names.length;
  const vector = Float32Array.from(names, (name) => options.weights[name] ?? 0);
  const scores = new Float32Array(pool.positions.length);
  const rows = Math.max(1, Math.floor(BLOCK / F));
  for (let first = 0; first < scores.length; first += rows) {
    const count = Math.min(rows, scores.length - first);
    const block = values.subarray(first * F, (first + count) * F);
    const sums = await readBack('mixedSignals', () =>
      matmul(tf.tensor2d(block, [count, F]), tf.tensor2d(vector, [F, 1])),
    );
    scores.set(sums, first);
  }
  return scores;
}

/** The cosine of the workspace's own encoder, whose vectors coordinates and attention are computed from. */
const OWN_COSINE = 'cosine';
/** The structure signals that compare vectors. */
const OWN_STRUCTURE: readonly string[] = ['difference.homogeneity', ...Object.keys(listStructureSignals())];

/** The signals of plugins that read vectors, of whichever encoder, and those whose walks start at what the workspace's own encoder finds. */
function listColumnReaders({ groups, plugins }: SignalBankOptions, cosines: readonly string[]): Map<string, Signal> {
  const added = Array.from(listAddedSignals(plugins), ([name, { use }]) => [name, use] as const);
  const own =
    groups.includes('graph') && cosines.includes(OWN_COSINE) ? Object.entries(createColumnSignals('graph')) : [];
  const all = [...own, ...(cosines.length > 0 ? added : [])];
  return new Map(all.filter(([, { reads }]) => reads.includes('vectors')));
}

function listSpreadNames(cosine: string): string[] {
  return SPREAD.map((suffix) => `${cosine}${suffix}`);
}

/** The signals of a bank that depend on the encoders behind some of its cosines, in the order of their columns. @param cosines names of those cosines */
export function listEncoderSignals(options: SignalBankOptions, cosines: readonly string[]): string[] {
  const direct = new Set([
    ...cosines.flatMap(listSpreadNames),
    ...(cosines.includes(OWN_COSINE) ? OWN_STRUCTURE : []),
    ...listColumnReaders(options, cosines).keys(),
  ]);
  const products = listProducts()
    .filter(({ of }) => of.some((factor) => direct.has(factor)))
    .map(({ name }) => name);
  return listSignalNames(options).filter((name) => direct.has(name) || products.includes(name));
}

/** What is to be computed with the encoders of a workspace, and where the rest comes from. */
interface Refit {
  /** Names of the cosines whose encoders differ from those behind `base`. */
  readonly cosines: readonly string[];
  /** The signals asked for; those that depend on none of the cosines are copied. */
  readonly wanted: readonly string[];
  /** The whole bank with other encoders, for the same pool. */
  readonly base: SignalTable;
}

/** Columns of a table by name. */
function indexColumns(signals: readonly string[]): ReadonlyMap<string, number> {
  return new Map(signals.map((name, column) => [name, column]));
}

function copyColumns(from: SignalTable, names: readonly string[], to: TableColumns): void {
  const source = indexColumns(from.signals);
  const pairs = from.values.length / from.signals.length;
  for (const name of names) {
    let at = to.columns.get(name) as number;
    let there = source.get(name) as number;
    for (let pair = 0; pair < pairs; pair++, at += to.columns.size, there += from.signals.length)
      to.values[at] = from.values[there] as number;
  }
}

/** Fills in cosines with what is spread of them, structure and products, for the queries of one subcorpus. */
class SubcorpusRefit {
  readonly #world: World;
  readonly #pool: CandidatePool;
  readonly #table: TableColumns;
  readonly #whole: ReadonlyMap<string, Column>;
  readonly #products: readonly SignalProduct[];

  /** @param whole columns that are there for all pairs. */
  constructor(
    world: World,
    pool: CandidatePool,
    table: TableColumns,
    whole: ReadonlyMap<string, Column>,
    products: readonly SignalProduct[],
  ) {
    this.#world = world;
    this.#pool = pool;
    this.#table = table;
    this.#whole = whole;
    this.#products = products;
  }

  async fill(
    { subcorpus, queryIndexes, batch }: SubcorpusQueries,
    options: SignalBankOptions,
    cosines: readonly string[],
  ): Promise<void> {
    const { width } = this.#pool;
    const spread = new Spread(groupSessions(subcorpus.corpus));
    const scores = new Float64Array(subcorpus.corpus.size);
    const positions = mapLocalRows(subcorpus, this.#pool, queryIndexes);
    const pause = createEventBreaks();
    for (let first = 0; first < queryIndexes.length; first += QUERY_BLOCK) {
      const block = queryIndexes.slice(first, first + QUERY_BLOCK);
      const found = await computeScopeCosines(this.#world, options, subcorpus, block, (name) => cosines.includes(name));
      for (const [i, query] of block.entries()) {
        const row = first + i;
        const rows = new QueryRows(this.#table, query, positions.subarray(row * width, (row + 1) * width));
        for (const [name, cosine] of found) {
          cosine.copy(i, scores);
          rows.spread(name, spread, scores, batch.cutoffs[row] as number);
        }
        for (const [name, column] of this.#whole)
          rows.write(name, (_, queryIndex) => column[query * width + queryIndex] as number);
        for (const { name, of } of this.#products) rows.multiply(name, of);
        await pause();
      }
    }
  }
}

/** The structure signals of a world, by name. */
async function ownStructure(world: World, pool: CandidatePool): Promise<Map<string, Column>> {
  const inputs: Record<string, unknown> = {};
  for (const [name, use] of Object.entries(listStructureInputs(world))) inputs[name] = await world.get(use, pool);
  return collectStructureColumns(inputs);
}

/**
 * Signals of a bank as the encoders of another workspace have them: only what depends on these encoders is computed.
 *
 * @returns a table of at least the wanted signals
 */
export async function computeRefittedSignals(
  world: World,
  pool: CandidatePool,
  options: SignalBankOptions,
  { cosines, wanted, base }: Refit,
): Promise<SignalTable> {
  const dependent = listEncoderSignals(options, cosines).filter((name) => wanted.includes(name));
  const products = listProducts().filter(({ name }) => dependent.includes(name));
  const structure = OWN_STRUCTURE.filter((name) => dependent.includes(name));
  const readers = listColumnReaders(options, cosines);
  const added = [...readers.keys()].filter((name) => dependent.includes(name));
  const spreads = options.groups.includes('text') ? cosines.flatMap(listSpreadNames) : [];
  const computed = [...spreads, ...structure, ...added, ...products.map(({ name }) => name)];
  const copied = [...new Set([...wanted, ...products.flatMap(({ of }) => of)])].filter(
    (name) => !computed.includes(name),
  );
  const signals = [...computed, ...copied];
  const table = { values: new Float32Array(pool.positions.length * signals.length), columns: indexColumns(signals) };
  copyColumns(base, copied, table);
  const columns = structure.length === 0 ? new Map<string, Column>() : await ownStructure(world, pool);
  const whole = new Map(structure.map((name) => [name, columns.get(name) as Column]));
  for (const name of added) whole.set(name, await world.get(readers.get(name) as Signal, pool));
  const filler = new SubcorpusRefit(world, pool, table, whole, products);
  for (const part of world.subcorpora.split(world.batch)) await filler.fill(part, options, cosines);
  return { signals, values: table.values };
}
