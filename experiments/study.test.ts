import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { describeHeldOut } from '../src/lab/measure/passport.ts';
import { createStudyCommand, type Study } from './study.ts';

const results = mkdtempSync(join(tmpdir(), 'ragpp-study-'));
afterAll(() => rmSync(results, { recursive: true }));
const settings = z.strictObject({ seed: z.int().default(1), half: z.enum(['dev', 'test']).default('test') });
const study: Study<typeof settings> = {
  name: 'sample-study',
  description: 'questions of which a half is held out',
  settings,
  measure: async ({ half }) => ({
    dataset: { name: 'questions', hash: 'aa'.repeat(32) },
    tested: [half === 'test' ? describeHeldOut('questions', 'aa'.repeat(32), ['q1', 'q2', 'q3']) : null],
    figures: {},
    sections: ['| a |'],
  }),
};

/** The last table that was written. */
async function run(...set: string[]): Promise<{ readonly printed: string; readonly table: string }> {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    const flags = set.flatMap((one) => ['--set', one]);
    await createStudyCommand(study)([
      '--backend',
      'cpu',
      '--results',
      results,
      '--cache',
      join(results, 'cache'),
      ...flags,
    ]);
    const printed = write.mock.calls.map(([text]) => String(text)).join('');
    const folder = /run: (.*)\n/.exec(printed)?.[1] as string;
    return { printed, table: readFileSync(join(folder, 'table.md'), 'utf8') };
  } finally {
    write.mockRestore();
  }
}

test('a look at held-out questions is counted once a run, and is below the tables; none at the dev half', async () => {
  const first = 'Look 1 at the test split of questions (3 test queries).';
  for (const said of [first, first]) {
    const { printed, table } = await run();
    expect(printed).toContain(`| a |\n\n${said}\n`);
    expect(table).toContain(`| a |\n\n${said}\n\nExperiment sample-study`);
  }
  expect((await run('half=dev')).table).not.toContain('Look');
  expect((await run('seed=2')).table).toContain('Look 2 at the test split of questions (3 test queries).');
  const { looks } = JSON.parse(readFileSync(join(results, 'test-looks.json'), 'utf8')) as { looks: { run: string }[] };
  expect(looks.map(({ run: name }) => name).every((name) => readdirSync(results).includes(name))).toBe(true);
  expect(looks).toHaveLength(2);
});

test('the command that a table names has its words quoted, so that a shell reads them back', async () => {
  expect((await run('seed=3', "half='dev'")).table).toMatch(
    /; npm run experiment -- sample-study .* --set 'half='\\''dev'\\'''\n$/,
  );
});
