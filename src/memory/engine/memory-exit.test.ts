import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const engine = fileURLToPath(new URL('./open-memory.ts', import.meta.url));

test('a process ends at once after its memory is closed', () => {
  const program = `
    import { openMemory } from ${JSON.stringify(engine)};
    const memory = await openMemory({ dimension: 2, timeoutMs: 2 ** 31 - 1, indexes: { a: { index: 'flat' }, b: { index: 'hnsw' } } });
    await memory.add({ id: 'a', embedding: Float32Array.of(1, 0), context: '', createdAt: 0 });
    await memory.query({ embedding: Float32Array.of(1, 0) });
    await memory.close();
    console.log('closed');`;
  const { stdout, stderr, signal } = spawnSync(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '--eval', program],
    { encoding: 'utf8', timeout: 45_000 },
  );
  expect({ stdout, stderr, signal }).toEqual({ stdout: 'closed\n', stderr: '', signal: null });
});
