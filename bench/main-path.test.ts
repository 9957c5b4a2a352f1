import { beforeAll, expect, test } from 'vitest';
import { useBackend } from '../src/core/tensors/backend.ts';
import { tracePaths } from './main-path.ts';

beforeAll(() => useBackend('wasm'));

test('a hybrid arm with decay runs the code of at most 38 files besides core', async () => {
  const path = (await tracePaths()).get('hybrid, decay')!;
  const files = [...path.keys()].filter((file) => !file.startsWith('core/'));
  expect(files).toContain('rank/retrieval/retriever.ts');
  expect(files).toContain('rank/signals/bm25.ts');
  expect(files.length).toBeLessThanOrEqual(38);
  expect(path.get('index/vectors/hnsw.ts')).toContain('search');
});
