import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parseTables } from '../lab/config/config-reference.harness.ts';
import { endpointJudgeOptions } from '../lab/judging/endpoint-judge.ts';
import { runRagpp } from './command.harness.ts';
import { judgeCommand } from './judge.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-judge-page-'));
afterAll(() => rmSync(root, { recursive: true }));

const page = readFileSync(new URL('../../docs/judgements.md', import.meta.url), 'utf8');
const [, example = ''] = /^## A full example$([\s\S]*?)^## /m.exec(page) ?? [];
const PROGRAM = 'npm run -s ragpp -- ';

/** Files are in the folder of the test. */
const locate = (word: string) => (/^[\w.]+\.(jsonl|trec)$/.test(word) ? join(root, word) : word);

/** Runs a command of the page. @returns what it printed, with files named as the page names them */
async function runCommand(line: string): Promise<string> {
  const words = line.slice(PROGRAM.length).split(' ');
  const typed = words.map((word) => word.split('=').map(locate).join('='));
  const more = words[0] === 'score' ? ['--results', root, '--samples', '99'] : [];
  const { code, stdout } = await runRagpp(...typed, ...more);
  expect(code, line).toBe(0);
  return stdout.replaceAll(`${root}/`, '');
}

test('the example runs, and prints what the page says', async () => {
  const names: string[] = [];
  let printed = '';
  let compared = 0;
  for (const [, prose = '', language, content = ''] of example.matchAll(/([\s\S]*?)^```(\w+)\n([\s\S]*?)^```$/gm)) {
    names.push(...Array.from(prose.matchAll(/^`([\w.]+)`(?: and `([\w.]+)`)?,/gm), (found) => found.slice(1)).flat());
    if (language === 'jsonl' || language === 'trec') writeFileSync(join(root, names.shift() as string), content);
    else if (language === 'sh') {
      printed = '';
      for (const line of content.trim().split('\n')) printed += await runCommand(line);
    } else {
      expect(printed).toBe(content);
      compared++;
    }
    names.splice(0, names.length, ...names.filter((name) => name !== undefined));
  }
  expect(compared).toBe(2);
  expect(printed).toMatch(/bm25 .*\n.*dense /); // of score, which the page does not repeat
});

test('the page names every command, and every option of a service with its default', () => {
  const [commands = []] = parseTables(page).map((table) => table.slice(2).map(([cell]) => cell));
  expect([...commands].sort()).toEqual(
    judgeCommand()
      .commands.map((command) => `\`judge ${command.name()}\``)
      .sort(),
  );
  const { baseUrl: _, model: __, ...rest } = endpointJudgeOptions.parse({ baseUrl: 'http://x/v1', model: 'm' });
  const listed =
    parseTables(page)
      .find(([header]) => header?.[1] === 'default')
      ?.slice(2) ?? [];
  const named = listed.map(([option, preset]) => [option?.replaceAll('`', ''), preset?.replaceAll('`', '')]);
  expect(named).toEqual(Object.entries(rest).map(([option, preset]) => [option, String(preset)]));
});
