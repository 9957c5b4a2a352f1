import { expect, test } from 'vitest';
import { loadDataset } from '../registry.ts';
import { decodeDataset, encodeDataset } from './dataset-bytes.ts';

test.each([{ name: 'corrections' }, { name: 'synthetic', conversations: 11 }, { name: 'shop' }] as const)(
  '%o comes back with all its content',
  async (options) => {
    const dataset = await loadDataset(options as Parameters<typeof loadDataset>[0]);
    const decoded = decodeDataset(encodeDataset(dataset));
    const listContent = ({ corpus, ...rest }: typeof dataset) => ({ ...rest, turns: corpus.turns });
    expect(listContent(decoded)).toEqual(listContent(dataset));
    expect(decoded.corpus.conversations.length).toBe(dataset.corpus.conversations.length);
    expect(decoded.queries.length).toBeGreaterThan(10);
  },
);

test('the bytes of one dataset are always the same', async () => {
  const [one, other] = [await loadDataset({ name: 'corrections' }), await loadDataset({ name: 'corrections' })];
  expect(Buffer.compare(encodeDataset(one), encodeDataset(other))).toBe(0);
});
