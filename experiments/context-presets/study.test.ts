import { expect, test } from 'vitest';
import { ignoreProgress } from '../../src/core/terminal/progress.ts';
import { contextPresets } from './study.ts';

test('a share for documents finds their rules, one for memories the memories, and more tokens find no less', async () => {
  const settings = contextPresets.settings.parse({
    ...{ customers: 10, pages: 20, questions: 40, split: 'all', samples: 199, budgets: [300, 1200] },
    embedding: { encoder: 'lsa', dimension: 64 },
  });
  const { figures } = await contextPresets.measure(settings, { cacheFolder: '', progress: ignoreProgress });
  const { rows } = figures as { rows: { name: string; budgets: { mean: { mean: number } }[] }[] };
  expect(
    rows
      .map(({ name }) => name)
      .slice(0, 3)
      .sort(),
  ).toEqual(['balanced', 'memory-focused', 'rag-focused']);
  for (const { name, budgets } of rows) {
    const [few, many] = budgets.map(({ mean }) => mean.mean) as [number, number];
    expect(many, name).toBeGreaterThanOrEqual(few);
    expect(many, name).toBeGreaterThan(0);
  }
  const { byKind } = figures as { byKind: { kind: string; shares: Record<string, number> }[] };
  expect(byKind.find(({ kind }) => kind === 'rule')?.shares['rag-focused']).toBe(1);
});
