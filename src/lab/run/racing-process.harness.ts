import { fileURLToPath } from 'node:url';
import { computeHash } from '../../core/hash/hash.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { SAMPLE_ARMS } from '../../rank/retrieval/arms.fixture.ts';
import { retrieve } from '../../rank/retrieval/retriever.ts';
import { createSampleWorkspace, drawSampleWorld } from '../../rank/signals/corpus.fixture.ts';
import type { StageCounts } from '../../rank/signals/stage.ts';
import { StageCache } from './stage-cache.ts';

/** What a process made of the sample arms, and of arrays that take a while to write. */
export interface RaceOutcome {
  readonly hash: string;
  readonly counts: StageCounts;
}

const ARMS = [SAMPLE_ARMS.hybrid, SAMPLE_ARMS.unified, SAMPLE_ARMS['propagation, framework']];
const LARGE_STAGES = 23;
const LARGE_SIZE = 100_003;

/** Runs arms of the sample world with its stages in a cache folder. */
export async function race(cacheFolder: string): Promise<RaceOutcome> {
  await useBackend('wasm');
  const identity = { code: 'c', data: 'd', encoder: { encoder: 'e' } };
  const workspace = createSampleWorkspace(drawSampleWorld(3, 61, 7, 3), {
    store: new StageCache(cacheFolder),
    identity,
  });
  const results: unknown[] = [];
  try {
    for (let number = 0; number < LARGE_STAGES; number++) {
      const compute = () => {
        const source = createRandom(number, 'racing');
        return Float64Array.from({ length: LARGE_SIZE }, () => source.uniform());
      };
      results.push(await workspace.runStage(workspace.plan.derived('large', number, []), compute));
    }
    for (const arm of ARMS) results.push((await retrieve(workspace, arm)).scores);
    return { hash: computeHash(results), counts: workspace.takeStageCounts() };
  } finally {
    workspace.dispose();
  }
}

// As a process of its own it begins on a message, so that two of them begin together.
if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) {
  process.once('message', async (cacheFolder: string) => {
    process.send?.(await race(cacheFolder), () => process.disconnect());
  });
  process.send('ready');
}
