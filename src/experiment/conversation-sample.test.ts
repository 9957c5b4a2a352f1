import { expect, test } from 'vitest';
import { sampleConversations } from './conversation-sample.ts';

const labels = Array.from({ length: 173 }, (_, i) => `c${i % 61}`);

test('samples have their size, and each is within the next, up to all conversations', () => {
  const samples = [1 / 8, 1 / 4, 1 / 2, 1].map((share) => sampleConversations(labels, share, 3));
  expect(samples.map(({ size }) => size)).toEqual([8, 16, 31, 61]); // ⌈61 / 8⌉, ⌈61 / 4⌉, ⌈61 / 2⌉
  for (const [i, larger] of samples.slice(1).entries())
    for (const conversation of samples[i] as ReadonlySet<string>) expect(larger.has(conversation)).toBe(true);
});

test('a sample depends on the seed alone', () => {
  const sample = sampleConversations(labels, 0.3, 3);
  expect(sampleConversations(labels, 0.3, 3)).toEqual(sample);
  expect([...sampleConversations(labels, 0.3, 5)].sort()).not.toEqual([...sample].sort());
  expect(sampleConversations(['x', 'x'], 1e-9, 3)).toEqual(new Set(['x']));
});
