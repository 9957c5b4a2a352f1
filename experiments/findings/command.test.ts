import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ConfigurationError } from '../../src/core/errors/errors.ts';
import { createRandom } from '../../src/core/numbers/random.ts';
import { runFindings } from './command.ts';

const folder = mkdtempSync(join(tmpdir(), 'findings-'));
afterAll(() => rmSync(folder, { recursive: true }));

const WORDS = 'bread soup lentils flour yeast oven salt onion carrot butter sugar eggs cream apples garlic rice'.split(
  ' ',
);
const [TURNS, THREADS, HOUR] = [131, 17, 3_600_000];
const START = Date.UTC(2024, 0, 1);

/** Threads whose messages come in turns, as a user's own data. */
function writeData(data: string): void {
  const source = createRandom(1, 'findings command.test');
  const turns = Array.from({ length: TURNS }, (_, i) => ({
    id: `t${i}`,
    conversationId: `c${i % THREADS}`,
    parentId: i < THREADS ? null : `t${i - THREADS}`,
    timestamp: START + i * HOUR,
    text: Array.from({ length: 11 }, () => WORDS[source.integer(WORDS.length)]).join(' '),
  }));
  mkdirSync(data);
  writeFileSync(join(data, 'turns.jsonl'), turns.map((turn) => `${JSON.stringify(turn)}\n`).join(''));
  const query = { id: 'q', text: 'bread', timestamp: START + TURNS * HOUR, anchorTurnId: 't0' };
  writeFileSync(join(data, 'queries.jsonl'), `${JSON.stringify(query)}\n`);
  writeFileSync(join(data, 'qrels.txt'), 'q 0 t0 1\n');
}

const results = join(folder, 'results');
const places = ['--data', join(folder, 'data'), '--cache', join(folder, 'cache'), '--results', results];
const options = [...places, '--backend', 'wasm', '--sampled-messages', '11'];

async function runQuietly(): Promise<string> {
  const printed: string[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => printed.push(String(text)) > 0);
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    await runFindings(options);
  } finally {
    vi.restoreAllMocks();
  }
  return printed.join('');
}

describe('experiment findings', () => {
  let printed = '';
  let run = '';
  beforeAll(async () => {
    writeData(join(folder, 'data'));
    printed = await runQuietly();
    run = join(results, readdirSync(results)[0] as string);
  });
  const read = (name: string) => readFileSync(join(run, name), 'utf8');

  test('leaves its files and prints the tables', () => {
    expect(readdirSync(run).sort()).toEqual(['config.yaml', 'environment.json', 'metrics.json', 'table.md']);
    expect(printed).toContain(read('table.md'));
    expect(read('table.md').match(/^### Table \d\. /gm)).toEqual([1, 2, 3, 4, 5, 6].map((i) => `### Table ${i}. `));
    expect(read('table.md')).toContain(`seed 20260101; npm run experiment -- findings ${options.join(' ')}`);
    expect(JSON.parse(read('environment.json'))).toMatchObject({ backend: 'wasm', seed: 20260101 });
  });

  test('the figures are of the data', () => {
    const metrics = JSON.parse(read('metrics.json'));
    expect(metrics).toMatchObject({ experiment: 'findings', corpus: { messages: TURNS, conversations: THREADS } });
    const kept = metrics.reversal.filter(({ self }: { self: string }) => self === 'include');
    expect(kept.map(({ messages }: { messages: number }) => messages).reduce((a: number, b: number) => a + b)).toBe(
      TURNS,
    );
    const falls = metrics.falls.map(({ additions }: { additions: number }) => additions);
    expect(new Set(falls)).toEqual(new Set([TURNS - THREADS, TURNS - 1]));
  });

  test('the same run gives the same numbers', async () => {
    const before = ['metrics.json', 'table.md'].map(read);
    await runQuietly();
    expect(readdirSync(results)).toHaveLength(1);
    expect(['metrics.json', 'table.md'].map(read)).toEqual(before);
  });

  test('settings that cannot be are refused before any work', async () => {
    const wrong = runFindings([...places, '--seed', 'many', '--sampled-messages', '1']);
    await expect(wrong).rejects.toThrow(ConfigurationError);
    await expect(wrong).rejects.toThrow(/2 errors in the options[\s\S]*seed[\s\S]*"many"[\s\S]*sampledMessages/);
  });
});
