import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { DATASETS } from '../data/registry.ts';
import { runRagpp } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-data-'));
afterAll(() => rmSync(root, { recursive: true }));
const file = join(root, 'talk.json');
const writeDialogueTurn = (dia_id: string, text: string) => ({ speaker: 'Ana', dia_id, text });
writeFileSync(
  file,
  JSON.stringify({
    sample_id: 'conv-7',
    conversation: {
      session_1: [writeDialogueTurn('D1:1', 'I planted beans.'), writeDialogueTurn('D1:2', 'They grow.')],
      session_1_date_time: '1:56 pm on 8 May, 2023',
    },
    qa: [{ question: 'What did Ana plant?', category: 4, evidence: ['D1:1'] }],
  }),
);

describe('without a name', () => {
  test('every dataset is listed with its licence, where it comes from and what it takes', async () => {
    const { code, stdout, stderr } = await runRagpp('data');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const blocks = stdout.split('\n\n');
    for (const [i, { description, licence, source }] of DATASETS.members.entries()) {
      expect(blocks[i]).toContain(`${DATASETS.names[i]}: ${description}\n`);
      for (const text of [licence, source]) expect(blocks[i]).toContain(`  ${text}`);
    }
    expect(blocks.find((text) => text.startsWith('jsonl:'))).toMatch(
      / {2}path +text; required\n {2}onDirtyRow +error or skip; default "error"\n {2}relevantGrade +integer; default 1$/,
    );
  });

  test('an option has no dataset to go to', async () => {
    const { code, stdout, stderr } = await runRagpp('data', '--set', 'path=x');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe('error: --set without the name of a dataset; give the name\n(see ragpp data --help)\n');
  });
});

describe('with a name', () => {
  test('the dataset is loaded, and tells what it is and what was counted', async () => {
    const { code, stdout } = await runRagpp(
      'data',
      'locomo',
      '--set',
      `path=${file}`,
      '--set',
      'categories=[single-hop]',
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/^locomo\n {2}task +a question .+\n {2}features +text, .+\n {2}licence +CC BY-NC 4.0\n/);
    expect(stdout).toMatch(
      /\n {2}grades +1 evidence, relevant from 1\n {2}dev +1 of 1 conversations\n {2}hash +[0-9a-f]{64}\n/,
    );
    expect(stdout).toMatch(/\n\nfacts\n(.*\n)* {2}messages +2\n/);
    expect(stdout).toMatch(/\n {2}queries, single-hop +1\n {2}judgements +1\n$/);
  });

  test.each([
    ['a dataset that is none', ['locmo'], / {2}name: expected .+, got "locmo"; did you mean locomo\?\n/],
    [
      'an option that is none',
      ['locomo', '--set', 'path=x', '--set', 'category=[temporal]'],
      / {2}category: expected one of name, path, categories, testConversations, splitQuestions, got unknown key "category"/,
    ],
    ['a missing option', ['jsonl'], / {2}path: expected string, got nothing\n/],
    ['what is no setting', ['jsonl', '--set', 'path'], / {2}--set: expected path=value, got "path"\n/],
  ])('%s is wrong usage', async (_, argv, message) => {
    const { code, stdout, stderr } = await runRagpp('data', ...argv);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
  });

  test('a missing file is reported', async () => {
    const { code, stderr } = await runRagpp('data', 'locomo', '--set', `path=${join(root, 'none.json')}`);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^ragpp \[STORAGE\]: cannot read .*none\.json; .*\n$/);
  });
});
