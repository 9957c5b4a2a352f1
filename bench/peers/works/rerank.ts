import { useBackend } from '../../../src/core/tensors/backend.ts';
import { computeQueryFrames } from '../../../src/ops/trajectory/query-frames.ts';
import { findPool } from '../../../src/rank/retrieval/candidate-sources.ts';
import { scorePool } from '../../../src/rank/retrieval/retriever.ts';
import { readArm } from '../../../src/rank/retrieval/written-steps.ts';
import { TRAJECTORY_DEFAULTS } from '../../../src/rank/signals/signal-options.ts';
import { prepareFrameSources } from '../../../src/rank/signals/trajectory-score.ts';
import { writeRerankCases } from '../../rerank-peer.ts';
import { buildRerankArms, createFreshPools } from '../../rerank-timing.ts';
import { createBatchWorkspace, drawRerankWorld, type RerankWorld } from '../../rerank-workload.ts';
import { compareNumbers, type PeerSize, readSettings, type WorkGroup, writeSettings } from '../work.ts';

const TURNS: Readonly<Record<PeerSize, number>> = { small: 3216, published: 100_000 };
const BATCHES = [1, 64];
const [CANDIDATES, DIMENSION] = [200, 512];
/** Queries of a work, in batches: with fewer, whether a collection of garbage falls into a work decides its time. */
const QUERIES = 640;
const TOLERANCE = 1e-5;

const { whole } = buildRerankArms(CANDIDATES);

const drawWorld = (size: PeerSize, seed: number) => drawRerankWorld(TURNS[size], Math.max(...BATCHES), DIMENSION, seed);

/** A batch of queries with the candidates that the exact index finds. */
async function openBatch(world: RerankWorld, batch: number) {
  const workspace = createBatchWorkspace(world, batch);
  return { workspace, pool: await findPool(workspace, null, readArm(whole).outline) };
}

/** The peer gets the candidates, their coordinates and their places on the ring, which our side computes each time. */
async function prepareCases(folder: string, size: PeerSize, seed: number): Promise<void> {
  await useBackend('wasm');
  const world = drawWorld(size, seed);
  const cases = [];
  for (const batch of BATCHES) {
    const { workspace, pool } = await openBatch(world, batch);
    const { frames, points } = await prepareFrameSources(workspace);
    cases.push({ batch, pool, frames: computeQueryFrames(frames, points, pool.positions, TRAJECTORY_DEFAULTS) });
    workspace.dispose();
  }
  const settings = { ...(await writeRerankCases(folder, world, cases)), queries: QUERIES };
  writeSettings(folder, { ...readSettings<object>(folder), ...settings });
}

/** Cosine, trajectory and unified attention of the candidates of queries, to the final scores on the host. */
export const rerank: WorkGroup = {
  listWorks: () => BATCHES.map((batch) => `rerank/${batch}`),
  peers: [{ name: 'torch', requirements: 'torch-requirements.txt' }],
  describe: (size) =>
    `${CANDIDATES} candidates of ${QUERIES} queries, ${BATCHES.join(' and ')} at once, of ${TURNS[size].toLocaleString('en')} turns, D ${DIMENSION}, whose tables are there; torch gets the coordinates and places of the candidates, which ours computes`,
  prepare: prepareCases,
  open: async (folder, backend) => {
    await useBackend(backend);
    const { size, seed } = readSettings<{ readonly size: PeerSize; readonly seed: number }>(folder);
    const world = drawWorld(size, seed);
    const works: [string, () => Promise<() => Float64Array>][] = [];
    for (const batch of BATCHES) {
      const { workspace, pool } = await openBatch(world, batch);
      const createPool = createFreshPools(pool);
      let scored = await scorePool(workspace, createPool(), whole); // makes the tables of conversations
      works.push([
        `rerank/${batch}`,
        async () => {
          for (let i = 0; i < QUERIES; i += batch) scored = await scorePool(workspace, createPool(), whole);
          return () => Float64Array.from(scored.scores);
        },
      ]);
    }
    return Object.fromEntries(works);
  },
  compare: (_work, ours, theirs) => compareNumbers(ours, theirs, TOLERANCE),
};
