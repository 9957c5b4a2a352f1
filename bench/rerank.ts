import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { ValidationError } from '../src/core/errors/errors.ts';
import { BACKENDS, type BackendChoice, useBackend } from '../src/core/tensors/backend.ts';
import { parsePositiveOption } from './integer-option.ts';
import { findTorch } from './peers/process.ts';
import { PEER_STEPS, type PeerStep, runTorchRerank } from './rerank-peer.ts';
import { RerankReference, type ScoreName } from './rerank-reference.ts';
import { measureRerank, measureRerankErrors, type RerankMeasurement, STEPS, type Step } from './rerank-timing.ts';
import { drawRerankWorld, type RerankWorld } from './rerank-workload.ts';
import { formatTextTable } from './text-table.ts';

export const RERANK_USAGE = `rerank [options]   time of scoring candidates by cosine, trajectory and unified attention a query, part by part, with the error of each, beside torch 2, which it installs into a virtual environment where python3 has none
    --sizes N,N        turns in the corpus (default 3216,100000)
    --batches B,B      queries at once (default 1,8,64)
    --candidates C,C   of a query (default 50,200)
    --dimension D      (default 512)
    --samples S        queries of a batch checked against float64 (default 3)
    --repeats R        runs of each part; its median and its fastest are shown (default 9)
    --peer P           torch, none (default torch)
    --seed S           (default 7)
    --backend B        auto, ${BACKENDS.join(', ')} (default auto)`;

const PEERS = ['torch', 'none'] as const;

interface Settings {
  readonly sizes: readonly number[];
  readonly batches: readonly number[];
  readonly candidates: readonly number[];
  readonly dimension: number;
  readonly samples: number;
  readonly repeats: number;
  readonly seed: number;
  readonly peer: (typeof PEERS)[number];
}

/** One line of the table. */
interface RerankRow {
  readonly size: number;
  readonly batch: number;
  readonly candidates: number;
  readonly step: string;
  /** Of a query. */
  readonly milliseconds: number;
  readonly fastest?: number;
  /** Largest difference to float64 of the score that the step ends with. */
  readonly error?: number;
  /** Of a query, by torch. */
  readonly peer?: number;
  readonly peerFastest?: number;
  readonly peerError?: number;
}

const SCORE_OF: Readonly<Partial<Record<Step, ScoreName>>> = {
  cosine: 'cosine',
  trajectory: 'trajectory',
  unified: 'attention',
  whole: 'final',
};

const isPeerStep = (step: Step): step is PeerStep => (PEER_STEPS as readonly string[]).includes(step);

/** Prints the table of the bench. */
export async function benchRerank(args: readonly string[]): Promise<void> {
  const { settings, backend: choice } = parseOptions(args);
  const backend = await useBackend(choice);
  const { dimension, seed, repeats, sizes } = settings;
  const machine = `${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores`;
  console.log(`machine: ${machine}; load ${loadavg()[0]?.toFixed(1)}; node ${process.version}; backend ${backend}`);
  console.log(`data: conversations of 32 turns on average, D ${dimension}, seed ${seed}; ${repeats} runs of each part`);
  const python = settings.peer === 'torch' ? findTorch() : undefined;
  const rows: RerankRow[] = [];
  for (const size of sizes) {
    const world = drawRerankWorld(size, Math.max(...settings.batches), dimension, seed);
    const reference = new RerankReference(world);
    const measured: RerankMeasurement[] = [];
    for (const batch of settings.batches)
      measured.push(...(await measureRerank(world, reference, batch, settings.candidates, settings)));
    const peers =
      python !== undefined && 'versions' in python ? await runTorchRerank(python, world, measured, repeats) : [];
    rows.push(
      ...measured.flatMap((measurement, i) =>
        buildRerankRows(world, reference, measurement, peers[i], settings.samples),
      ),
    );
  }
  console.log(`\n${formatRerankTable(rows)}\n`);
  console.log(
    'whole: all of it, candidates to final scores on the host. trajectory has the frames in it, which torch is given',
  );
  console.log(`load at the end ${loadavg()[0]?.toFixed(1)}`);
  if (python === undefined) console.log('no peer was asked for');
  else console.log('versions' in python ? `peer: ${python.versions}, one thread` : `no peer: ${python.missing}`);
}

function buildRerankRows(
  world: RerankWorld,
  reference: RerankReference,
  { batch, candidates, times, errors, pool }: RerankMeasurement,
  peer: Awaited<ReturnType<typeof runTorchRerank>>[number] | undefined,
  samples: number,
): RerankRow[] {
  const peerErrors = peer && measureRerankErrors(world, reference, pool, samples, peer.scores);
  return STEPS.map((step) => {
    const score = SCORE_OF[step];
    const { median, fastest } = times[step];
    return {
      ...{ size: world.corpus.size, batch, candidates, step },
      ...{ milliseconds: median / batch, fastest: fastest / batch },
      ...(score === undefined ? {} : { error: errors[score] }),
      ...(peer === undefined || !isPeerStep(step)
        ? {}
        : { peer: peer.times[step].median / batch, peerFastest: peer.times[step].fastest / batch }),
      ...(peerErrors === undefined || score === undefined ? {} : { peerError: peerErrors[score] }),
    };
  });
}

function parseOptions(args: readonly string[]): { settings: Settings; backend: BackendChoice } {
  const describeTextOption = (value: string) => ({ type: 'string' as const, default: value });
  const { values } = parseArgs({
    args: [...args],
    options: {
      sizes: describeTextOption('3216,100000'),
      batches: describeTextOption('1,8,64'),
      candidates: describeTextOption('50,200'),
      dimension: describeTextOption('512'),
      samples: describeTextOption('3'),
      repeats: describeTextOption('9'),
      peer: describeTextOption('torch'),
      seed: describeTextOption('7'),
      backend: describeTextOption('auto'),
    },
  });
  const parseRerankIntegers = (
    name: 'sizes' | 'batches' | 'candidates' | 'dimension' | 'samples' | 'repeats' | 'seed',
  ) => values[name].split(',').map((value) => parsePositiveOption(name, value));
  const parseRerankInteger = (name: 'dimension' | 'samples' | 'repeats' | 'seed') => {
    const [number, ...more] = parseRerankIntegers(name);
    if (more.length > 0) throw new ValidationError(`--${name} is not an integer: ${values[name]}; give one from 1`);
    return number!;
  };
  const peer = PEERS.find((name) => name === values.peer);
  if (peer === undefined) throw new ValidationError(`unknown --peer: ${values.peer}; use one of ${PEERS.join(', ')}`);
  const lists = {
    sizes: parseRerankIntegers('sizes'),
    batches: parseRerankIntegers('batches'),
    candidates: parseRerankIntegers('candidates'),
  };
  const numbers = {
    dimension: parseRerankInteger('dimension'),
    samples: parseRerankInteger('samples'),
    repeats: parseRerankInteger('repeats'),
  };
  return {
    settings: { ...lists, ...numbers, seed: parseRerankInteger('seed'), peer },
    backend: values.backend as BackendChoice,
  };
}

/** Times of a query, errors, and the fastest run as a multiple of the fastest of torch; a dash without a peer. */
export function formatRerankTable(rows: readonly RerankRow[]): string {
  const header = ['step', 'N', 'B', 'C', 'ms/query', 'fastest', 'max error'];
  const others = ['torch', 'its fastest', 'its error', 'of torch'];
  const lines = rows.map((row) => [
    row.step,
    ...[row.size, row.batch, row.candidates].map(String),
    row.milliseconds.toFixed(3),
    row.fastest?.toFixed(3) ?? '-',
    row.error?.toExponential(1) ?? '-',
    row.peer?.toFixed(3) ?? '-',
    row.peerFastest?.toFixed(3) ?? '-',
    row.peerError?.toExponential(1) ?? '-',
    row.fastest === undefined || row.peerFastest === undefined ? '-' : (row.fastest / row.peerFastest).toFixed(2),
  ]);
  return formatTextTable([...header, ...others], lines);
}
