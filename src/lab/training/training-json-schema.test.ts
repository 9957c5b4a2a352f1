import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { merge, type Plain } from '../composition/config-file.ts';
import { listMisfits, listRules, listStrangeKeywords, type Schema } from '../config/json-schema.harness.ts';
import { buildSampleTrainingConfig } from './training-config.fixture.ts';
import { buildTrainingJsonSchema } from './training-json-schema.ts';

const schema = buildTrainingJsonSchema() as Schema;
const configs = fileURLToPath(new URL('../../../configs/learning', import.meta.url));
const sample = buildSampleTrainingConfig('data');

test('the schema uses no keyword that the check leaves out', () => {
  expect(listStrangeKeywords(schema)).toEqual([]);
});

test.each(readdirSync(configs))('configs/learning/%s fits', (file) => {
  expect(listMisfits(parse(readFileSync(join(configs, file), 'utf8')), schema)).toEqual([]);
});

describe('a training config', () => {
  test.each<Plain>([{}, { crossValidation: { folds: 'folds.json' } }, { extends: 'other.yaml' }])(
    '%j fits',
    (change) => {
      expect(listMisfits(merge(sample, change), schema)).toEqual([]);
    },
  );

  test.each<[Plain, string]>([
    [{ sede: 1 }, '.sede'],
    [{ fitting: { epochs: 0 } }, '.fitting.epochs'],
    [{ candidates: [{ index: 'bm25', k: 0 }] }, '.candidates[0].k'],
    [{ crossValidation: { folds: 3 } }, '.crossValidation.folds'],
  ])('%j does not fit', (change, path) => {
    expect(listMisfits(merge(sample, change), schema)).toContain(path);
  });
});

test('every key has a description', () => {
  const rules = listRules(schema);
  expect(rules.length).toBeGreaterThan(100);
  expect(rules.filter(([, { description = '' }]) => description === '').map(([path]) => path)).toEqual([]);
  const { description } = rules.find(([path]) => path === '.transfer.dataset.categories')?.[1] ?? {};
  expect(description).toBe('the categories of questions');
});
