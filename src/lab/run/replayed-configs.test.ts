import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { loadConfig } from '../config/config.ts';
import { replayArm } from './arm-replay.ts';
import { PROJECT_ROOT } from './environment.ts';
import { LOCOMO, writeFewMails, writeFewQuestions } from './few-data.fixture.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-replays-'));
afterAll(() => rmSync(root, { recursive: true }));
const [mails, questions, cacheFolder] = ['mails', 'questions.json', 'cache'].map((name) => join(root, name)) as [
  string,
  string,
  string,
];
beforeAll(() => useBackend('wasm'));
writeFewMails(mails);
writeFewQuestions(questions);

const onMails = `dataset={name: mail-threads, path: ${mails}}`;
const onQuestions = `dataset.path=${questions}`;
const SLICES: readonly (readonly [config: string, data: string | null])[] = [
  ['quickstart', onMails],
  ['slices', onMails],
  ['shop', null],
  ...(existsSync(LOCOMO)
    ? (['locomo', 'hybrid', 'strategies'] as const).map((name) => [name, onQuestions] as const)
    : []),
];
if (!existsSync(LOCOMO)) console.warn(`skipped: locomo, hybrid and strategies, no data: ${LOCOMO}`);

describe.each(SLICES)('of %s', (config, data) => {
  const loaded = loadConfig(join(PROJECT_ROOT, 'configs', `${config}.yaml`), data === null ? [] : [data]);
  const arms = loaded.arms.filter(({ control }) => control === null).map(({ name }) => name);

  test.each(arms)('a memory that grows answers as the run of the arm %s, byte for byte', async (name) => {
    const { difference, queries } = await replayArm(loaded, name, { cacheFolder, limit: 4 });
    expect([difference, queries]).toEqual([null, 4]);
  });
});
