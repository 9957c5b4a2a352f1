import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gatherRows, viewRow } from '../src/core/tensors/rows.ts';
import { listConversationPositions } from '../src/model/turns/corpus.ts';
import { RING_ATTENTION_DEFAULTS } from '../src/ops/attention/options.ts';
import { listCoordinateWeights } from '../src/ops/trajectory/coordinate-names.ts';
import { buildForwardCosines, type ForwardCosines } from '../src/rank/signals/forward-mass.ts';
import { computeForwardWidth } from '../src/rank/signals/signal-options.ts';
import { type FoundPython, runPeer } from './peers/python.ts';
import { SCORES, type ScoreName } from './rerank-reference.ts';
import type { RerankMeasurement } from './rerank-timing.ts';
import type { RerankWorld } from './rerank-workload.ts';
import type { Times } from './timing.ts';

/** The options of torch. */
export const PEER_STEPS = ['cosine', 'trajectory', 'unified', 'whole'] as const;
export type PeerStep = (typeof PEER_STEPS)[number];

interface PeerRerank {
  /** Times of the batch. */
  readonly times: Readonly<Record<PeerStep, Times>>;
  /** Row-major [B, C]. */
  readonly scores: Readonly<Record<ScoreName, Float32Array>>;
}

/** The tables of all conversations one after the other, with the row of each corpus position. */
async function writeCorpus(world: RerankWorld, write: (name: string, data: Float32Array | Int32Array) => void) {
  const { corpus, turnVectors, dimension } = world;
  const width = computeForwardWidth(corpus, RING_ATTENTION_DEFAULTS);
  const next = new Float32Array(corpus.size * (width + 1));
  const first = new Float32Array(corpus.size * width);
  const rows = new Int32Array(corpus.size);
  let row = 0;
  for (const positions of listConversationPositions(corpus)) {
    const own = gatherRows(turnVectors, dimension, positions);
    const [tables] = (await buildForwardCosines(own, [positions.length], width)) as [ForwardCosines];
    for (const [turn, position] of positions.entries()) {
      next.set(viewRow(tables.next, tables.width + 1, turn), row * (width + 1));
      first.set(viewRow(tables.first, tables.width, turn), row * width);
      rows[position] = row++;
    }
  }
  write('corpus', turnVectors);
  write('next', next);
  write('first', first);
  write('rows', rows);
  return width;
}

/** Writes the corpus and the cases for rerank.py. @returns the settings that it needs. */
export async function writeRerankCases(
  folder: string,
  world: RerankWorld,
  cases: readonly Pick<RerankMeasurement, 'batch' | 'pool' | 'frames'>[],
) {
  const write = (name: string, data: Float32Array | Int32Array | Uint8Array) =>
    writeFileSync(join(folder, `${name}.bin`), data);
  const width = await writeCorpus(world, write);
  for (const [i, { batch, pool, frames }] of cases.entries()) {
    write(`queries-${i}`, world.queryVectors.subarray(0, batch * world.dimension));
    write(`positions-${i}`, pool.positions);
    write(`candidateCoordinates-${i}`, frames.candidates);
    write(`queryCoordinates-${i}`, frames.queries);
    for (const name of ['coldStart', 'ringDistances', 'ringPositions', 'turns'] as const)
      write(`${name}-${i}`, frames[name]);
  }
  const { decay, temperature } = RING_ATTENTION_DEFAULTS;
  const batches = cases.map(({ batch }) => batch);
  return { dimension: world.dimension, width, decay, temperature, weights: [...listCoordinateWeights(5)], batches };
}

/** The results of torch on the same candidates, with their coordinates and places as input, so that it needs no tree. */
export async function runTorchRerank(
  python: FoundPython,
  world: RerankWorld,
  cases: readonly RerankMeasurement[],
  repeats: number,
): Promise<PeerRerank[]> {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-rerank-'));
  try {
    const settings = { ...(await writeRerankCases(folder, world, cases)), repeats };
    writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings));
    const report = runPeer<Record<PeerStep, Times>[]>(python, 'rerank.py', folder);
    return report.map((times, i) => ({ times, scores: readScores(folder, i) }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function readScores(folder: string, i: number): Record<ScoreName, Float32Array> {
  const read = (name: ScoreName) =>
    new Float32Array(Uint8Array.from(readFileSync(join(folder, `${name}-${i}.f32`))).buffer);
  return Object.fromEntries(SCORES.map((name) => [name, read(name)])) as Record<ScoreName, Float32Array>;
}
