import { beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { createSampleWorkspace, drawSampleWorld } from '../signals/corpus.fixture.ts';
import { SAMPLE_ARMS, type SampleArm } from './arms.fixture.ts';
import { retrieve } from './retriever.ts';

beforeAll(() => useBackend('wasm'));
/** More queries and conversations than a batch holds. */
const world = drawSampleWorld(11, 1201, 150, 400);

/** The kernels that the stages of an arm launch. */
async function countArmLaunches(arm: SampleArm): Promise<number> {
  const workspace = createSampleWorkspace(world);
  try {
    await retrieve(workspace, SAMPLE_ARMS[arm]);
    return Object.values(workspace.readStageCounts()).reduce((sum, { launches }) => sum + launches, 0);
  } finally {
    workspace.dispose();
  }
}

test.each<[SampleArm, number]>([
  ['hybrid', 0],
  ['trajectory, 5', 30],
  ['rcp', 50],
  ['ircp, directed', 60],
  ['ircp, directed, additive', 60],
  ['tpo', 50],
  ['unified', 80],
  ['propagation, published', 600],
  ['propagation, framework', 600],
])('%s launches at most %i kernels, whatever the number of conversations', async (arm, most) => {
  expect(await countArmLaunches(arm)).toBeLessThanOrEqual(most);
});
