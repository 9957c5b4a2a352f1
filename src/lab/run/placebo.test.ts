import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ConfigurationError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { type BackendName, useBackend } from '../../core/tensors/backend.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { resolveConfig } from '../config/config.ts';
import { countTokens } from '../measure/passport.ts';
import { renderMarkdown } from '../report/tables/markdown.ts';
import { openArmRunner, openDataset } from './arm-runner.ts';
import { type FinishedRun, runExperiment } from './run.ts';
import { openServedArm } from './served-arm.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-placebo-'));
afterAll(() => rmSync(root, { recursive: true }));
let backend: BackendName;
let dataset: Dataset;

const COLOURS = ['red', 'green', 'blue', 'white'] as const;
const HOUR = 3_600_000;
const CONVERSATIONS = 90;

/** Conversations about a thing each; every turn names a colour, and all turns about a thing name the same one. */
function writePlanted(): void {
  const source = createRandom(17, 'planted-colours');
  const turns: object[] = [];
  const queries: object[] = [];
  const qrels: string[] = [];
  for (let thing = 0; thing < CONVERSATIONS; thing++) {
    const colour = COLOURS[source.integer(COLOURS.length)] as string;
    for (let i = 0; i < 6; i++) {
      const words = Array.from({ length: 2 + source.integer(9) }, () => `filler${source.integer(40)}`);
      const text = `thing${thing} is ${colour} ${words.join(' ')}`;
      const place = { id: `t${thing}-${i}`, conversationId: `c${thing}`, channel: `c${thing}-s${i % 3}` };
      turns.push({
        ...place,
        parentId: null,
        timestamp: Date.UTC(2024, 0, 1) + (thing * 7 + i) * HOUR,
        text,
        attributes: { part: i },
      });
    }
    // Asked after later things were talked about, of all conversations or of its own.
    const timestamp = Date.UTC(2024, 0, 1) + (thing * 7 + 20) * HOUR - 1;
    queries.push({ id: `q${thing}`, text: `what colour is thing${thing}`, timestamp });
    queries.push({ id: `own${thing}`, text: `what colour is thing${thing}`, timestamp });
    for (const query of ['q', 'own']) qrels.push(`${query}${thing} 0 t${thing}-0 1`);
  }
  const write = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  writeFileSync(join(root, 'turns.jsonl'), write(turns));
  writeFileSync(join(root, 'queries.jsonl'), write(queries));
  writeFileSync(join(root, 'qrels.txt'), `${qrels.join('\n')}\n`);
}

beforeAll(async () => {
  backend = await useBackend('wasm');
  writePlanted();
  const read = await openDataset(resolve(), { cacheFolder: null });
  const askOne = (query: Query): Query =>
    query.id.startsWith('own') ? { ...query, conversationId: `c${query.id.slice(3)}` } : query;
  dataset = { ...read, queries: read.queries.map(askOne) };
});

const words = [{ search: { bm25: { k: 6 } } }];
const packed = { from: 'words', then: [{ pack: { tokens: 40, fill: 'greedy' } }] };
const evaluation = { baseline: 'words', samples: 199, metrics: ['mrr@10', 'recall@40t'], split: 'all' };
const resolve = (changes: object = {}) =>
  resolveConfig(
    {
      ...{ name: 'placebo', seed: 3, dataset: { name: 'jsonl', path: root }, evaluation, placebo: true },
      ...{ embedding: { encoder: 'lsa', dimension: 13 }, arms: { words, packed }, ...changes },
    },
    'test',
  );
const run = (changes: object = {}): Promise<FinishedRun> =>
  runExperiment(resolve(changes), { backend, cacheFolder: join(root, 'cache'), dataset, command: '' });

describe('a placebo', () => {
  let finished: FinishedRun;
  let runner: Awaited<ReturnType<typeof openArmRunner>>;
  beforeAll(async () => {
    finished = await run();
    runner = await openArmRunner(resolve(), { cacheFolder: join(root, 'cache'), dataset });
  });
  afterAll(() => runner.dispose());

  const listShown = (arm: string): Map<string, Turn[]> =>
    new Map(
      [...finished.runs.get(arm)!].map(([query, ranking]) => [
        query,
        ranking.map(({ id }) => runner.dataset.corpus.getTurn(id)),
      ]),
    );
  const sumTokens = (turns: readonly Turn[]) => turns.reduce((sum, { text }) => sum + countTokens(text), 0);

  test('is beside each arm, with as many tokens within the shortest turn that was left', () => {
    expect(finished.result.arms.map(({ name }) => name)).toEqual([
      ...['words', 'packed', 'words | placebo', 'packed | placebo'],
    ]);
    expect(finished.result.failures).toEqual([]);
    for (const arm of ['words', 'packed']) {
      const placebo = listShown(`${arm} | placebo`);
      const isLong = (turns: readonly Turn[]) => turns.length > 3;
      for (const [query, turns] of listShown(arm)) {
        const missing = sumTokens(turns) - sumTokens(placebo.get(query) as Turn[]);
        expect(missing).toBeGreaterThanOrEqual(0);
        if (query.startsWith('q') && isLong(turns)) expect(missing).toBeLessThan(13);
      }
    }
    const { steps = [] } = finished.result.arms[3]!;
    const { queries, tokens } = steps[0]!;
    expect(steps).toEqual([{ step: 'placebo', of: 2 * CONVERSATIONS, queries, tokens }]);
    const all = [...listShown('packed').values()];
    expect(tokens?.of).toBeCloseTo(all.reduce((sum, turns) => sum + sumTokens(turns), 0) / all.length);
    expect(renderMarkdown(finished.result)).toMatch(
      /packed \\\| placebo +\| placebo \d+ \(\d+ of \d+ tokens a query\)/,
    );
  });

  test('shows no turn of the moment of its query or later, none of a related conversation or session, and none twice', () => {
    let shown = 0;
    for (const arm of ['words', 'packed'])
      for (const [id, turns] of listShown(`${arm} | placebo`)) {
        const { timestamp } = runner.dataset.queries.find((query) => query.id === id)!;
        const thing = id.replace(/\D+/, '');
        expect(turns.every((turn) => turn.timestamp < timestamp)).toBe(true);
        expect(new Set(turns).size).toBe(turns.length);
        const isRelated = ({ conversationId, channel }: Turn) =>
          id.startsWith('own') ? channel === `c${thing}-s0` : conversationId === `c${thing}`;
        expect(turns.filter(isRelated)).toEqual([]);
        if (id.startsWith('own')) expect(turns.every((turn) => turn.conversationId === `c${thing}`)).toBe(true);
        shown += turns.length;
      }
    expect(shown).toBeGreaterThan(1000);
    for (const arm of finished.result.arms.slice(2)) expect(arm.metrics['recall@40t']?.mean).toBe(0);
  });

  test('answers a planted question by chance, where its arm answers it', () => {
    const findColour = (turns: readonly Turn[]) => {
      const counts = COLOURS.map((colour) => turns.filter(({ text }) => text.split(' ').includes(colour)).length);
      return COLOURS[counts.indexOf(Math.max(...counts))];
    };
    const truth = (id: string) => findColour([runner.dataset.corpus.getTurn(`t${id.slice(1)}-0`)]);
    const measure = (arm: string) => {
      const asked = [...listShown(arm)].filter(([id]) => id.startsWith('q'));
      return asked.filter(([id, turns]) => findColour(turns) === truth(id)).length / asked.length;
    };
    expect(measure('packed')).toBe(1);
    // 3 standard deviations around a quarter.
    expect(Math.abs(measure('packed | placebo') - 0.25)).toBeLessThan(
      3 * Math.sqrt((0.25 * 0.75) / (CONVERSATIONS - 1)),
    );
  });

  test('is compared with its arm, in a family of its own', async () => {
    const { structure } = finished.result.arms[1]!;
    expect(Object.keys(structure?.metrics['mrr@10']?.controls ?? {})).toEqual(['placebo']);
    expect(structure?.metrics['mrr@10']?.controls.placebo?.verdict).toBe('better');
    const alone = await run({ placebo: false });
    expect(alone.result.arms[1]?.comparisons).toEqual(finished.result.arms[1]?.comparisons);
    expect(alone.runs.get('packed')).toEqual(finished.runs.get('packed'));
  });

  test('is drawn by the seed, and the same in a second run', async () => {
    expect((await run()).runs).toEqual(finished.runs);
    const other = await run({ seed: 4 });
    expect(other.runs.get('words')).toEqual(finished.runs.get('words'));
    expect(other.runs.get('words | placebo')).not.toEqual(finished.runs.get('words | placebo'));
  });

  test('keeps to what its arm may see', async () => {
    const early = { from: 'words', then: [{ filter: 'part < 2' }] };
    const seen = await run({ arms: { words, early } });
    const ranked = [...seen.runs.get('early | placebo')!.values()].flat();
    expect(ranked.length).toBeGreaterThan(100);
    for (const { id } of ranked) expect(runner.dataset.corpus.getTurn(id).attributes?.part).toBeLessThan(2);
  });

  test('serves no memory', async () => {
    await expect(openServedArm(runner, 'packed | placebo')).rejects.toThrow(
      'arm packed | placebo is a null control (placebo), which is drawn for the queries of a run; use packed',
    );
  });

  test('fails where no query has an unrelated turn', async () => {
    const none = { from: 'words', then: [{ filter: 'part > 9', unchanged: 'a test' }] };
    const { result } = await run({ arms: { words, none } });
    expect(result.failures.map(({ name, message }) => [name, message])).toEqual([
      [
        'none | placebo',
        'placebo of arm none: none of 180 queries has an unrelated turn; leave placebo out, or widen what the arm may see',
      ],
    ]);
  });
});

test('placebos are of arms that show a context: all with a measure of tokens, else those that pack', () => {
  const names = (changes: object) => resolve(changes).arms.map(({ name }) => name);
  const untold = { ...evaluation, metrics: ['mrr@10'] };
  expect(names({ evaluation: untold })).toEqual(['words', 'packed', 'packed | placebo']);
  for (const told of [{ tokenBudgets: [10, 20] }, { attributionTokens: 30 }])
    expect(names({ evaluation: { ...untold, ...told } })).toContain('words | placebo');
  expect(names({ placebo: false, controls: true })).toEqual(['words', 'packed']);
  const listFaults = (changes: object) => {
    try {
      resolve(changes);
    } catch (error) {
      return (error as ConfigurationError).faults.map(({ path }) => path);
    }
    return [];
  };
  expect(listFaults({ evaluation: untold, arms: { words } })).toEqual(['placebo']);
  expect(listFaults({ controls: ['placebo'] })).toEqual(['controls']);
});
