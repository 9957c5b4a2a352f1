import { expect, test } from 'vitest';
import { DOORS } from './entry-points.harness.ts';
import { listLoaded } from './loaded-modules.harness.ts';

const TENSORS = '@tensorflow/tfjs-core';

/** The most modules of the project that an import of each entry point loads. */
const MOST_MODULES: Readonly<Record<string, number>> = {
  // A config and an experiment are checked at once, so the definitions of all steps and signals are loaded.
  'rag-plusplus': 203,
  'rag-plusplus/core': 9,
  'rag-plusplus/ops': 58,
  'rag-plusplus/eval': 38,
  'rag-plusplus/data': 29,
  'rag-plusplus/index': 61,
  'rag-plusplus/kernel': 38,
  'rag-plusplus/rank': 175,
  'rag-plusplus/memory': 158,
  'rag-plusplus/testing': 155,
};
/** Entry points that work without tensors. */
const WITHOUT_TENSORS = ['rag-plusplus/eval', 'rag-plusplus/data', 'rag-plusplus/kernel'];

test.each([
  ['the command line, before a command runs,', 'cli/program.ts', ['commander']],
  ['the root', 'index.ts', [TENSORS, 'fastest-levenshtein', 'js-tokens', 'pure-rand', 'stemmer', 'zod']],
  ['the room eval', 'eval/index.ts', ['fastest-levenshtein', 'pure-rand', 'zod']],
])('%s loads the packages that it needs at once, and no other', (_, entry, packages) => {
  expect(listLoaded(entry).packages).toEqual(packages);
});

test('what starts a command loads no package at all', () => {
  expect(listLoaded('cli/main.ts').packages).toEqual([]);
});

test('a finished run is looked for before the code that computes a run is loaded', () => {
  const { modules } = listLoaded('cli/actions/run.ts');
  for (const module of ['cli/actions/computed-run.ts', 'lab/run/run.ts', 'lab/report/page/html.ts'])
    expect(modules, module).not.toContain(module);
  expect(modules.length).toBeLessThanOrEqual(196);
});

test.each([...DOORS])('%s loads few modules', (door, file) => {
  const { modules, packages } = listLoaded(file);
  expect(modules.length).toBeLessThanOrEqual(MOST_MODULES[door] as number);
  expect(packages.includes(TENSORS)).toBe(!WITHOUT_TENSORS.includes(door));
});
