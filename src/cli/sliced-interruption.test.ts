import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { awaitFound, findLocalKernel, findWorkProcess, startRagpp } from './process.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-sliced-'));
afterAll(() => rmSync(root, { recursive: true }));

const config = join(root, 'sliced.yaml');
writeFileSync(
  config,
  JSON.stringify({
    ...{ name: 'sliced', seed: 5, embedding: { encoder: 'lsa' }, dataset: { name: 'synthetic', conversations: 10 } },
    evaluation: { baseline: 'near', metrics: ['mrr@10'], split: 'all' },
    arms: { near: [{ slice: { policy: { id: 'near', maxNodes: 7 } } }, { search: { bm25: { k: 20 } } }] },
  }),
);

type Ends = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

test.concurrent.each<[NodeJS.Signals, 'program' | 'work', Ends]>([
  ['SIGINT', 'program', { code: 130, signal: null }],
  ['SIGKILL', 'program', { code: null, signal: 'SIGKILL' }],
  ['SIGKILL', 'work', { code: 137, signal: null }],
])('%s of the %s leaves no kernel behind', async (sent, receiver, ends) => {
  const name = `${sent}-${receiver}`;
  const run = startRagpp(['run', config, '--cache', join(root, `${name}-cache`), '--results', join(root, name)]);
  const early = run.ended.then(({ stderr }) => Promise.reject(new Error(`run ended without a kernel: ${stderr}`)));
  early.catch(() => {}); // it ends in every test
  const kernel = await Promise.race([awaitFound(() => findLocalKernel(run.pid)), early]);
  const work = findWorkProcess(run.pid);
  process.kill(receiver === 'work' ? work : run.pid, sent);
  const { code, signal, stderr } = await run.ended;
  expect({ code, signal }, stderr).toEqual(ends);
  await awaitFound(() => ([work, kernel].some((pid) => existsSync(`/proc/${pid}`)) ? undefined : true));
});
