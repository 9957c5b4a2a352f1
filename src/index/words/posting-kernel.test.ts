import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { requirePackages } from '../../core/required-packages.harness.ts';
import { compileKernel } from '../../core/tensors/kernel-text.harness.ts';
import { PostingMemory } from './posting-kernel.ts';

requirePackages('wabt').test('the bytes of the kernel are those of its text', async () => {
  const compiled = await compileKernel(new URL('posting-kernel.wat', import.meta.url));
  const source = readFileSync(new URL('posting-kernel.ts', import.meta.url), 'utf8');
  expect(source, `set KERNEL to '${compiled}'`).toContain(`'${compiled}'`);
});

test('memory that the kernel cannot have is refused, and leaves what is allocated', () => {
  const memory = new PostingMemory();
  memory.uint8[memory.allocate(1)] = 7;
  expect(() => memory.allocate(2 ** 32)).toThrow(
    /^lists of words need 4097 MiB, which the kernel of bm25 cannot have \(at most 4096\); divide the texts/,
  );
  expect(memory.allocate(1)).toBe(8);
  expect(memory.uint8[0]).toBe(7);
});

test('what is allocated is zero, apart from the rest, and stays when the memory grows', () => {
  const memory = new PostingMemory();
  const [first, second] = [memory.allocate(13), memory.allocate(3)];
  expect(second).toBe(first + 16);
  memory.uint8[first + 12] = 7;
  const third = memory.allocate(300_001);
  expect([memory.uint8[first + 12], memory.uint8[third + 300_000], memory.uint8[second]]).toEqual([7, 0, 0]);
});
