import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { expectDocumented, indexDocumentedRows, isKind } from '../config/config-reference.harness.ts';
import { PROJECT_ROOT } from '../run/environment.ts';
import { loadTrainingConfig } from './training-config.ts';
import { listTrainingKeys } from './training-json-schema.ts';

const page = readFileSync(`${PROJECT_ROOT}/docs/training.md`, 'utf8');
/** Keys that experiments have too: the reference of their config has them. */
const ELSEWHERE = /^(transfer\[\]\.)?(dataset|embedding|candidates\[\])[ .]|^signals\.encoders\[\]|^plugins\[\]/;

const keys = listTrainingKeys().filter(({ id, schema }) => !isKind(schema) && !ELSEWHERE.test(id));
const rows = indexDocumentedRows(page);

describe('the reference of training configs', () => {
  test('has a row for every key of the schema, and for no other', () => {
    expect([...rows.keys()].sort()).toEqual(keys.map(({ id }) => id).sort());
    expect(keys.length).toBeGreaterThan(40);
  });

  test.each(keys)('says of $id of which type it is and what its default is', (key) => {
    expectDocumented(rows, key, /^none$/);
  });
});

test('every command of the page with a config of the project can be typed', () => {
  const lines = [...page.matchAll(/ train (configs\/[\w/-]+\.yaml)(.*)$/gm)];
  expect(lines.length).toBeGreaterThan(1);
  for (const [, config, options] of lines) {
    const changes = [...(options as string).matchAll(/--set ([^\s`]+)/g)].map(([, change]) => change as string);
    expect(() => loadTrainingConfig(`${PROJECT_ROOT}/${config}`, changes)).not.toThrow();
  }
});
