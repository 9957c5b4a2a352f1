import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import * as tf from '@tensorflow/tfjs-core';
import { BACKENDS, type BackendChoice, useBackend } from '../src/core/tensors/backend.ts';
import { readBack } from '../src/core/tensors/scope.ts';
import { getOrCompute } from '../src/core/values/once.ts';
import { computeConservationMetrics } from '../src/ops/conservation/conservation-metrics.ts';
import { computeConservationTensors, MAX_TENSOR_RECORDS } from '../src/ops/conservation/conservation-tensors.ts';
import { runNumpy } from './conservation-peer.ts';
import { measureStream, type StreamMeasurement } from './conservation-stream.ts';
import {
  type ConservationWorkload,
  computeDefinedFigures,
  computeExactFigures,
  drawConservationWorkload,
  type Figures,
  measureRelativeError,
} from './conservation-workload.ts';
import { computeDoublingRatio, fitGrowthExponent } from './growth.ts';
import { parseIntegerOption } from './integer-option.ts';
import { findPython } from './peers/python.ts';
import { formatTextTable } from './text-table.ts';
import { timeRepeats } from './timing.ts';

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
    this.load = drawConservationWorkload(settings.maximum, settings.dimension, settings.seed);
  }

  listWorkloadSizes(most: number): number[] {
    const sizes: number[] = [];
    for (let count = this.settings.minimum; count <= Math.min(most, this.settings.maximum); count *= 2)
      sizes.push(count);
    return sizes;
  }

  buildConservationRow(name: string, count: number, seconds: number, figures: Figures): ConservationRow {
    const exact = getOrCompute(this.#exact, count, () => computeExactFigures(this.load, count));
    return { name, count, seconds, error: measureRelativeError(figures, exact) };
  }

  /** The method's rows for all sizes up to `most`. */
  async measureMethodRows(
    name: string,
    most: number,
    compute: (count: number) => Figures | Promise<Figures>,
    repeats = this.settings.repeats,
  ): Promise<ConservationRow[]> {
    const rows: ConservationRow[] = [];
    for (const count of this.listWorkloadSizes(most)) {
      const { median, result } = await timeRepeats(repeats, () => compute(count));
      rows.push(this.buildConservationRow(name, count, median / 1000, result));
    }
    return rows;
  }

  computeOnHost(count: number): Figures {
    const { embeddings, salience, dimension } = this.load;
    return computeConservationMetrics(embeddings.subarray(0, count * dimension), salience.subarray(0, count));
  }

  /** Of records on the device, their figures read back. */
  async measureTensorRows(): Promise<ConservationRow[]> {
    const { embeddings, salience, dimension } = this.load;
    const rows: ConservationRow[] = [];
    for (const count of this.listWorkloadSizes(MAX_TENSOR_RECORDS)) {
      const records = tf.tensor2d(embeddings.slice(0, count * dimension), [count, dimension]);
      const weights = tf.tensor1d(Float32Array.from(salience.subarray(0, count)));
      const compute = async () => {
        const [magnitude, energy, information] = await readBack('bench', () => {
          const figures = computeConservationTensors(records, weights);
          return tf.stack([figures.magnitude, figures.energy, figures.information]);
        });
        return { magnitude: magnitude!, energy: energy!, information: information! };
      };
      const { median, result } = await timeRepeats(this.settings.repeats, compute);
      rows.push(this.buildConservationRow('tensors', count, median / 1000, result));
      tf.dispose([records, weights]);
    }
    return rows;
  }

  measureNumpyRows(): { rows: ConservationRow[]; remark: string } {
    const { maximumPeer, maximumPairs, repeats } = this.settings;
    const [mean, pairwise] = [
      this.listWorkloadSizes(maximumPeer),
      this.listWorkloadSizes(Math.min(maximumPeer, maximumPairs)),
    ];
    if (mean.length === 0) return { rows: [], remark: 'no peer was asked for' };
    const python = findPython(['numpy']);
    if ('missing' in python) return { rows: [], remark: `no peer: ${python.missing}` };
    const report = runNumpy(python, this.load, { mean, pairwise }, repeats);
    const buildFormRows = (name: string, form: keyof typeof report, sizes: readonly number[]) =>
      report[form].map(({ seconds, figures }, i) => this.buildConservationRow(name, sizes[i]!, seconds, figures));
    return {
      rows: [
        ...buildFormRows('numpy, all pairs', 'pairwise', pairwise),
        ...buildFormRows('numpy, mean direction', 'mean', mean),
      ],
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
    ...(await bench.measureMethodRows('host', maximum, (count) => bench.computeOnHost(count))),
    ...(await bench.measureTensorRows()),
    ...(await bench.measureMethodRows(PAIRS, maximumPairs, (count) => computeDefinedFigures(bench.load, count), 1)),
  ];
  const numpy = bench.measureNumpyRows();
  console.log(`\n${formatConservationTable([...rows, ...numpy.rows])}\n`);
  console.log(formatStream(measureStream(bench.load, operations, seed)));
  console.log(`${numpy.remark}; load at the end ${loadavg()[0]?.toFixed(1)}`);
}

function parseOptions(args: readonly string[]): { settings: Settings; backend: BackendChoice } {
  const describeTextOption = (value: string) => ({ type: 'string' as const, default: value });
  const { values } = parseArgs({
    args: [...args],
    options: {
      'min-n': describeTextOption('1024'),
      'max-n': describeTextOption('262144'),
      'max-pairs': describeTextOption('2048'),
      'max-peer': describeTextOption('65536'),
      dimension: describeTextOption('512'),
      operations: describeTextOption('100000'),
      repeats: describeTextOption('5'),
      seed: describeTextOption('7'),
      backend: describeTextOption('auto'),
    },
  });
  const parseConservationInteger = (name: keyof typeof values, least: number) =>
    parseIntegerOption(name, values[name], least);
  const settings = {
    minimum: parseConservationInteger('min-n', 1),
    maximum: parseConservationInteger('max-n', 1),
    maximumPairs: parseConservationInteger('max-pairs', 0),
    maximumPeer: parseConservationInteger('max-peer', 0),
    dimension: parseConservationInteger('dimension', 1),
    operations: parseConservationInteger('operations', 1),
    repeats: parseConservationInteger('repeats', 1),
    seed: parseConservationInteger('seed', 0),
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
  const listMethodTimes = (wanted: string) =>
    rows.filter(({ name }) => name === wanted).map(({ count, seconds }) => ({ size: count, seconds }));
  const pairs = new Map(listMethodTimes(PAIRS).map(({ size, seconds }) => [size, seconds]));
  const header = ['method', 'records', 'seconds', 'vs half', 'relative error', `times faster than ${PAIRS}`];
  const lines = rows.map(({ name, count, seconds, error }) => {
    const slow = pairs.get(count);
    return [
      name,
      `${count}`,
      seconds.toFixed(5),
      computeDoublingRatio(listMethodTimes(name), count)?.toFixed(2) ?? '-',
      error.toExponential(1),
      slow === undefined ? '-' : (slow / seconds).toFixed(1),
    ];
  });
  const growth = [...new Set(rows.map(({ name }) => name))]
    .filter((name) => listMethodTimes(name).length > 1)
    .map((name) => `growth of ${name}: seconds ~ records^${fitGrowthExponent(listMethodTimes(name)).toFixed(2)}`);
  return [formatTextTable(header, lines), '', ...growth].join('\n');
}
