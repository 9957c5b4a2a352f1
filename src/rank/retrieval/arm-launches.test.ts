import { beforeAll, expect, test } from 'vitest';
import { measureCost } from '../../core/tensors/active-backend.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { createSampleWorkspace, drawSampleWorld } from '../signals/corpus.fixture.ts';
import { SAMPLE_ARMS, type SampleArm } from './arms.fixture.ts';
import { retrieve } from './retriever.ts';

beforeAll(() => useBackend('wasm'));
/** More queries and conversations than a batch holds. */
const world = drawSampleWorld(11, 1201, 150, 400);

/** The kernels that an arm launches. */
async function countArmLaunches(arm: SampleArm): Promise<number> {
  const workspace = createSampleWorkspace(world);
  try {
    const { all } = await measureCost(() => retrieve(workspace, SAMPLE_ARMS[arm]));
    return all.launches;
  } finally {
    workspace.dispose();
  }
}

test.each<[SampleArm, number, number]>([
  ['hybrid', 0, 0],
  ['trajectory, 5', 1, 8],
  ['rcp', 1, 8],
  ['ircp, directed', 1, 8],
  ['ircp, directed, additive', 1, 8],
  ['tpo', 1, 8],
  ['unified', 1, 8],
  ['propagation, published', 100, 600],
  ['propagation, framework', 100, 600],
])('%s launches %i to %i kernels, for hundreds of conversations', async (arm, least, most) => {
  const launches = await countArmLaunches(arm);
  expect(launches).toBeGreaterThanOrEqual(least);
  expect(launches).toBeLessThanOrEqual(most);
});
