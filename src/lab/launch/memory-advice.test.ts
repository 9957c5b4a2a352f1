import { execFile } from 'node:child_process';
import { expect, test } from 'vitest';
import { findBuiltUrl } from '../../core/built-module.harness.ts';
import { findLastWords } from './last-words.ts';
import { describeMemoryAdvice, isOutOfMemory } from './memory-advice.ts';

test('a full heap is recognised by what V8 writes, another death is not', async () => {
  const hoard = 'const held = []; for (;;) held.push(new Array(1000).fill(held.length));';
  const complaint = await new Promise<string>((resolve) => {
    execFile(process.execPath, ['--max-old-space-size=31', '-e', hoard], (_, __, stderr) => resolve(stderr));
  });
  expect(isOutOfMemory(findLastWords(complaint))).toBe(true);
  expect(isOutOfMemory('Error: no room in memory')).toBe(false);
});

test('the advice names the limit that holds, and an option that doubles it', async () => {
  const code = `
    import { describeMemoryAdvice } from ${JSON.stringify(findBuiltUrl('lab/launch/memory-advice'))};
    console.log(describeMemoryAdvice());`;
  const options = ['--max-old-space-size=211', '--max-semi-space-size=1'];
  const written = await new Promise<string>((resolve, reject) => {
    execFile(process.execPath, [...options, '--input-type=module', '-e', code], (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    );
  });
  const [, limit, option] =
    /^the heap limit is (\d+) MiB; raise it with NODE_OPTIONS=--max-old-space-size=(\d+), or take fewer queries with --limit-queries\n$/.exec(
      written,
    ) ?? [];
  expect(Number(limit)).toBeGreaterThanOrEqual(211);
  expect(Number(limit)).toBeLessThan(230);
  expect(Number(option)).toBe(2 * Number(limit));
  expect(describeMemoryAdvice()).not.toContain(` ${limit} MiB`);
});
