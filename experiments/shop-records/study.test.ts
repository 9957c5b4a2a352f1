import { expect } from 'vitest';
import { requirePackages } from '../../src/core/required-packages.harness.ts';
import { ignoreProgress } from '../../src/core/terminal/progress.ts';
import { shopRecords } from './study.ts';

const { test } = requirePackages('DuckDB');

test('questions find all orders of their answer, by time no others, and memories are asked without the database', async () => {
  const settings = shopRecords.settings.parse({ customers: 12, questions: 36, split: 'all', samples: 199 });
  const { figures } = await shopRecords.measure(settings, { cacheFolder: '', progress: ignoreProgress });
  const { rows } = figures as {
    rows: {
      domain: string;
      kind: string;
      questions: number;
      recall: { mean: number } | null;
      precision: { mean: number } | null;
      records: number;
    }[];
  };
  const find = (domain: string, kind: string) => rows.find((row) => row.domain === domain && row.kind === kind);
  for (const domain of ['by customer and time', 'by customer alone', 'by the orders that the ontology joins'])
    for (const kind of ['records', 'both'])
      expect(find(domain, kind)).toMatchObject({ questions: 6, recall: { mean: 1 } });
  expect(find('by customer and time', 'records')?.precision?.mean).toBe(1);
  expect(find('by customer alone', 'records')?.precision?.mean).toBeLessThan(0.5);
  for (const kind of ['episode', 'procedure', 'overview']) expect(find('by customer alone', kind)?.records).toBe(0);
});
