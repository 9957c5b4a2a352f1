import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { findBuiltUrl } from '../../core/built-module.harness.ts';

test('a process ends at once after its memory is closed', () => {
  const program = `
    import { openMemory } from ${JSON.stringify(findBuiltUrl('memory/engine/open-memory'))};
    const memory = await openMemory({ dimension: 2, timeoutMs: 2 ** 31 - 1, indexes: { a: { index: 'flat' }, b: { index: 'hnsw' } } });
    await memory.add({ id: 'a', embedding: Float32Array.of(1, 0), context: '', createdAt: 0 });
    await memory.query({ embedding: Float32Array.of(1, 0) });
    await memory.close();
    console.log('closed');`;
  const { stdout, stderr, signal } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
    timeout: 45_000,
  });
  expect({ stdout, stderr, signal }).toEqual({ stdout: 'closed\n', stderr: '', signal: null });
});
