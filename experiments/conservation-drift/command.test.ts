import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ConfigurationError } from '../../src/core/errors/errors.ts';
import { createRandom } from '../../src/core/numbers/random.ts';
import { runConservationDrift } from './command.ts';
import { computeNoon } from './corpus.fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'conservation-drift-'));
afterAll(() => rmSync(folder, { recursive: true }));

const WORDS = 'bread soup lentils flour yeast oven salt onion carrot butter sugar eggs cream apples garlic rice'.split(
  ' ',
);
const [TURNS, DAYS] = [151, 61];

/** Conversations of two months with a silence of three weeks in between, as a user's own data. */
function writeData(data: string): void {
  const source = createRandom(1, 'command.test');
  const times = Array.from({ length: TURNS }, () => DAYS * source.uniform())
    .map((day) => (day < 20 ? day : Math.max(41, day)))
    .sort((a, b) => a - b);
  const turns = times.map((day, i) => {
    const text = Array.from({ length: 11 }, () => WORDS[source.integer(WORDS.length)]).join(' ');
    return {
      id: `t${i}`,
      conversationId: `c${i % 17}`,
      parentId: i < 17 ? null : `t${i - 17}`,
      timestamp: Math.round(computeNoon(day)),
      text,
    };
  });
  mkdirSync(data);
  writeFileSync(join(data, 'turns.jsonl'), turns.map((turn) => `${JSON.stringify(turn)}\n`).join(''));
  const query = { id: 'q', text: 'bread', timestamp: computeNoon(DAYS), anchorTurnId: 't0' };
  writeFileSync(join(data, 'queries.jsonl'), `${JSON.stringify(query)}\n`);
  writeFileSync(join(data, 'qrels.txt'), 'q 0 t0 1\n');
}

const results = join(folder, 'results');
const common = [
  '--data',
  join(folder, 'data'),
  '--cache',
  join(folder, 'cache'),
  '--results',
  results,
  '--backend',
  'wasm',
];
const options = [...common, '--fit', 'all', '--retention-days', '7', '--capacity', '19', '--least-messages', '11'];

describe('experiment conservation-drift', () => {
  const printed: string[] = [];
  let run = '';
  beforeAll(async () => {
    writeData(join(folder, 'data'));
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => printed.push(String(text)) > 0);
    vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    await runConservationDrift(options);
    vi.restoreAllMocks();
    run = join(results, readdirSync(results)[0] as string);
  });

  const readJson = (name: string) => JSON.parse(readFileSync(join(run, name), 'utf8'));

  test('leaves its files and prints the table', () => {
    expect(readdirSync(results)).toHaveLength(1);
    expect(readdirSync(run).sort()).toEqual(
      [
        'config.yaml',
        'environment.json',
        'figure.json',
        'metrics.json',
        'report.html',
        'series.json',
        'table.md',
      ].sort(),
    );
    expect(printed.join('')).toContain('busiest 19: information, bits');
    expect(readFileSync(join(run, 'table.md'), 'utf8')).toContain(
      `npm run experiment -- conservation-drift ${options.join(' ')}`,
    );
    expect(readJson('environment.json')).toMatchObject({ backend: 'wasm', seed: 20260101 });
  });

  test('the figures are those of the series', () => {
    const { policies, messages } = readJson('metrics.json');
    const series = readJson('series.json');
    expect(messages).toBe(TURNS);
    expect(policies.map(({ name }: { name: string }) => name)).toEqual([
      'keep everything',
      '7 days',
      '7 days, fading',
      'busiest 19',
    ]);
    for (const { name, tally, drifts } of policies) {
      const samples: Record<string, number>[] = series[name];
      expect(tally.added).toBe(TURNS);
      expect(samples.at(-1)?.count).toBe(TURNS - tally.removed);
      for (const { figure, initial } of drifts) expect(samples.map((sample) => sample[figure])).toContain(initial);
    }
    expect(Math.max(...series['busiest 19'].map(({ count }: { count: number }) => count))).toBe(19);
    expect(series['7 days'].some(({ count }: { count: number }) => count === 0)).toBe(true);
  });

  test('the same run gives the same numbers', async () => {
    const before = ['metrics.json', 'series.json', 'figure.json'].map((name) => readFileSync(join(run, name), 'utf8'));
    vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    await runConservationDrift(options);
    vi.restoreAllMocks();
    expect(readdirSync(results)).toHaveLength(1);
    expect(['metrics.json', 'series.json', 'figure.json'].map((name) => readFileSync(join(run, name), 'utf8'))).toEqual(
      before,
    );
  });

  test('settings that cannot be are refused before any work', async () => {
    const wrong = runConservationDrift([...common, '--retention-days', 'many', '--capacity', '0']);
    await expect(wrong).rejects.toThrow(ConfigurationError);
    await expect(wrong).rejects.toThrow(/2 errors in the options[\s\S]*retentionDays[\s\S]*"many"[\s\S]*capacity/);
  });

  const executable = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
  test.skipIf(!existsSync(executable))(
    'the page draws every policy in every panel, offline and without complaint',
    async () => {
      const browser = await chromium.launch({ executablePath: executable, args: ['--no-sandbox'] });
      const complaints: string[] = [];
      try {
        const context = await browser.newContext({ viewport: { width: 1150, height: 900 }, offline: true });
        const page = await context.newPage();
        const address = pathToFileURL(join(run, 'report.html')).href;
        page.on('console', (message) => complaints.push(message.text()));
        page.on('pageerror', (error) => complaints.push(error.message));
        page.on('request', (request) => request.url() === address || complaints.push(request.url()));
        await page.goto(address);
        await page.waitForSelector('#figure .scatterlayer .js-line');
        expect(await page.locator('#figure .scatterlayer .trace .js-line').count()).toBeGreaterThanOrEqual(16);
        expect(await page.locator('table').count()).toBe(2);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(1150);
      } finally {
        await browser.close();
      }
      expect(complaints).toEqual([]);
    },
  );
});
