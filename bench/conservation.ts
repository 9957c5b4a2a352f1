import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import * as tf from '@tensorflow/tfjs-core';
import { conservationMetrics } from '../src/conservation/conservation-metrics.ts';
import { conservationTensors, MAX_TENSOR_RECORDS } from '../src/conservation/conservation-tensors.ts';
import { BACKENDS, type BackendChoice, useBackend } from '../src/core/backend.ts';
import { getOrCompute } from '../src/core/once.ts';
import { readBack } from '../src/core/read-back.ts';
import { runNumpy } from './conservation-peer.ts';
import { measureStream, type StreamMeasurement } from './conservation-stream.ts';
import {
  type ConservationWorkload,
  conservationWorkload,
  exactFigures,
  type Figures,
  figuresByDefinition,
  relativeError,
} from './conservation-workload.ts';
import { doublingRatio, growthExponent } from './growth.ts';
import { integerOption } from './integer-option.ts';
import { findPython } from './peers/python.ts';
import { textTable } from './text-table.ts';
import { timesOf } from './timing.ts';

export const CONSERVATION_USAGE = `conservation [options]   time and error of magnitude, energy and information of a memory: host, tensors, all pairs, and numpy where python3 imports it (apt-get install -y python3-numpy); and of a stream of updates
    --min-n N          records of the smallest memory (default 1024), doubled up to
    --max-n N          (default 262144)
    --max-pairs N      most for energy over all pairs (default 2048)
    --max-peer N       most for numpy (default 65536), 0 for none
    --dimension D      (default 512)
    --operations O     of the stream (default 100000)
    --repeats R        of which the median counts (default 5)
    --seed S           (default 7)
    --backend B        auto, ${BACKENDS.join(', ')} (default auto)`;

interface Settings {
  readonly minimum: number;
  readonly maximum: number;
  readonly maximumPairs: number;
  readonly maximumPeer: number;
  readonly dimension: number;
  readonly operations: number;
  readonly repeats: number;
  readonly seed: number;
}

/** One line of the table. */
interface ConservationRow {
  readonly name: string;
  readonly count: number;
  readonly seconds: number;
  /** Largest of the three figures, relative. */
  readonly error: number;
}

/** The method that others are compared with. */
const PAIRS = 'all pairs';

class Bench {
  readonly settings: Settings;
  readonly load: ConservationWorkload;
  readonly #exact = new Map<number, Figures>();

  constructor(settings: Settings) {
    this.settings = settings;
    this.load = conservationWorkload(settings.maximum, settings.dimension, settings.seed);
  }

  sizes(most: number): number[] {
    const sizes: number[] = [];
    for (let count = this.settings.minimum; count <= Math.min(most, this.settings.maximum); count *= 2)
      sizes.push(count);
    return sizes;
  }

  row(name: string, count: number, seconds: number, figures: Figures): ConservationRow {
    const exact = getOrCompute(this.#exact, count, () => exactFigures(this.load, count));
    return { name, count, seconds, error: relativeError(figures, exact) };
  }

  /** The method's rows for all sizes up to `most`. */
  async rows(
    name: string,
    most: number,
    compute: (count: number) => Figures | Promise<Figures>,
    repeats = this.settings.repeats,
  ): Promise<ConservationRow[]> {
    const rows: ConservationRow[] = [];
    for (const count of this.sizes(most)) {
      const { median, result } = await timesOf(repeats, () => compute(count));
      rows.push(this.row(name, count, median / 1000, result));
    }
    return rows;
  }

  host(count: number): Figures {
    const { embeddings, salience, dimension } = this.load;
    return conservationMetrics(embeddings.subarray(0, count * dimension), salience.subarray(0, count));
  }

  /** Of records on the device, their figures read back. */
  async tensorRows(): Promise<ConservationRow[]> {
    const { embeddings, salience, dimension } = this.load;
    const rows: ConservationRow[] = [];
    for (const count of this.sizes(MAX_TENSOR_RECORDS)) {
      const records = tf.tensor2d(embeddings.slice(0, count * dimension), [count, dimension]);
      const weights = tf.tensor1d(Float32Array.from(salience.subarray(0, count)));
      const compute = async () => {
        const [magnitude, energy, information] = await readBack('bench', () => {
          const figures = conservationTensors(records, weights);
          return tf.stack([figures.magnitude, figures.energy, figures.information]);
        });
        return { magnitude: magnitude!, energy: energy!, information: information! };
      };
      const { median, result } = await timesOf(this.settings.repeats, compute);
      rows.push(this.row('tensors', count, median / 1000, result));
      tf.dispose([records, weights]);
    }
    return rows;
  }

  numpyRows(): { rows: ConservationRow[]; remark: string } {
    const { maximumPeer, maximumPairs, repeats } = this.settings;
    const [mean, pairwise] = [this.sizes(maximumPeer), this.sizes(Math.min(maximumPeer, maximumPairs))];
    if (mean.length === 0) return { rows: [], remark: 'no peer was asked for' };
    const python = findPython(['numpy']);
    if ('missing' in python) return { rows: [], remark: `no peer: ${python.missing}` };
    const report = runNumpy(python, this.load, { mean, pairwise }, repeats);
    const rowsOf = (name: string, form: keyof typeof report, sizes: readonly number[]) =>
      report[form].map(({ seconds, figures }, i) => this.row(name, sizes[i]!, seconds, figures));
    return {
      rows: [...rowsOf('numpy, all pairs', 'pairwise', pairwise), ...rowsOf('numpy, mean direction', 'mean', mean)],
      remark: `peer: ${python.versions}, one thread`,
    };
  }
}

/** Prints the tables of the bench. */
export async function benchConservation(args: readonly string[]): Promise<void> {
  const { settings, backend: choice } = parseOptions(args);
  const backend = await useBackend(choice);
  const { dimension, seed, repeats, operations, maximumPairs, maximum } = settings;
  const machine = `${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores`;
  console.log(`machine: ${machine}; load ${loadavg()[0]?.toFixed(1)}; node ${process.version}; backend ${backend}`);
  console.log(
    `data: records in 100 clusters, log-normal salience, D ${dimension}, seed ${seed}; the median of ${repeats}`,
  );
  const bench = new Bench(settings);
  const rows = [
    ...(await bench.rows('host', maximum, (count) => bench.host(count))),
    ...(await bench.tensorRows()),
    ...(await bench.rows(PAIRS, maximumPairs, (count) => figuresByDefinition(bench.load, count), 1)),
  ];
  const numpy = bench.numpyRows();
  console.log(`\n${formatConservationTable([...rows, ...numpy.rows])}\n`);
  console.log(formatStream(measureStream(bench.load, operations, seed)));
  console.log(`${numpy.remark}; load at the end ${loadavg()[0]?.toFixed(1)}`);
}

function parseOptions(args: readonly string[]): { settings: Settings; backend: BackendChoice } {
  const text = (value: string) => ({ type: 'string' as const, default: value });
  const { values } = parseArgs({
    args: [...args],
    options: {
      'min-n': text('1024'),
      'max-n': text('262144'),
      'max-pairs': text('2048'),
      'max-peer': text('65536'),
      dimension: text('512'),
      operations: text('100000'),
      repeats: text('5'),
      seed: text('7'),
      backend: text('auto'),
    },
  });
  const integer = (name: keyof typeof values, least: number) => integerOption(name, values[name], least);
  const settings = {
    minimum: integer('min-n', 1),
    maximum: integer('max-n', 1),
    maximumPairs: integer('max-pairs', 0),
    maximumPeer: integer('max-peer', 0),
    dimension: integer('dimension', 1),
    operations: integer('operations', 1),
    repeats: integer('repeats', 1),
    seed: integer('seed', 0),
  };
  return { settings, backend: values.backend as BackendChoice };
}

function formatStream({
  operations,
  addsPerSecond,
  removesPerSecond,
  readingsPerSecond,
  drift,
}: StreamMeasurement): string {
  const rates = [`${addsPerSecond.toFixed(0)} adds`, `${removesPerSecond.toFixed(0)} removes`];
  return `stream: ${rates.join(', ')} and ${readingsPerSecond.toFixed(0)} readings a second; relative drift ${drift.toExponential(1)} after ${operations} operations`;
}

/** Times, their growth, errors, and how many times as fast as energy over all pairs at the same size; a dash without a peer. */
export function formatConservationTable(rows: readonly ConservationRow[]): string {
  const timesIn = (wanted: string) =>
    rows.filter(({ name }) => name === wanted).map(({ count, seconds }) => ({ size: count, seconds }));
  const pairs = new Map(timesIn(PAIRS).map(({ size, seconds }) => [size, seconds]));
  const header = ['method', 'records', 'seconds', 'vs half', 'relative error', `times faster than ${PAIRS}`];
  const lines = rows.map(({ name, count, seconds, error }) => {
    const slow = pairs.get(count);
    return [
      name,
      `${count}`,
      seconds.toFixed(5),
      doublingRatio(timesIn(name), count)?.toFixed(2) ?? '-',
      error.toExponential(1),
      slow === undefined ? '-' : (slow / seconds).toFixed(1),
    ];
  });
  const growth = [...new Set(rows.map(({ name }) => name))]
    .filter((name) => timesIn(name).length > 1)
    .map((name) => `growth of ${name}: seconds ~ records^${growthExponent(timesIn(name)).toFixed(2)}`);
  return [textTable(header, lines), '', ...growth].join('\n');
}
