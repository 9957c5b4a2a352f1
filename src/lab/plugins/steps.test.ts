import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import plugin from '../../../examples/plugins/step.ts';
import { ConfigurationError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { rank } from '../../rank/retrieval/rank.ts';
import { decomposeScores, retrieve } from '../../rank/retrieval/retriever.ts';
import { findNeed } from '../../rank/retrieval/steps/step.ts';
import {
  listArmStages,
  listControlsOfArm,
  parseSteps,
  readArm,
  type WrittenStep,
} from '../../rank/retrieval/written-steps.ts';
import { createSampleWorkspace, drawSampleWorld } from '../../rank/signals/corpus.fixture.ts';
import { openConfig, resolveConfig } from '../config/config.ts';
import { buildConfigJsonSchema } from '../config/config-json-schema.ts';
import { installPlugin, uninstallPlugin } from './install.ts';
import { definePlugin, type PluginStep } from './plugin.ts';
import { listInstalledPlugins } from './resolved-plugin.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-steps-'));
const MODULE = fileURLToPath(new URL('../../../examples/plugins/step.ts', import.meta.url));
beforeAll(() => useBackend('wasm'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => {
  for (const { name } of listInstalledPlugins()) uninstallPlugin(name);
});

const world = drawSampleWorld(7, 101, 11, 3);
const HOUR = 3_600_000;
const start: readonly WrittenStep[] = [{ search: { bm25: { k: 19 } } }];
const install = (step: PluginStep, name = 'own') => installPlugin(definePlugin({ name, version: 1, steps: [step] }));

async function rankBy(list: readonly WrittenStep[]) {
  const workspace = createSampleWorkspace(world);
  const options = parseSteps(list);
  const retrieved = await retrieve(workspace, options);
  const { pool, scores } = retrieved;
  const places = Int32Array.from(pool.positions, (position, place) => (position < 0 ? -1 : place));
  const parts = await decomposeScores(workspace, readArm(options), retrieved, places);
  const { slots } = await rank(pool, scores, pool.width, () => 'pair');
  const { corpus, queries } = workspace;
  const rows = queries.map((query, row) =>
    [...slots.subarray(row * pool.width, (row + 1) * pool.width)]
      .filter((slot) => slot >= 0)
      .map((slot) => ({ query, slot, turn: corpus.turns[pool.positions[row * pool.width + slot] as number]! })),
  );
  const keys = listArmStages(workspace.plan, options).map(({ key }) => key);
  workspace.dispose();
  return { ...retrieved, rows, parts, keys };
}

describe('a step of a plugin', () => {
  test('changes scores by a column with its name, which is a part of the score and a stage', async () => {
    installPlugin(plugin);
    const before = await rankBy(start);
    const after = await rankBy([...start, { 'recency-floor': { floor: 0.3, halfLifeHours: 2 } }]);
    for (const [query, row] of before.rows.entries())
      for (const { slot, turn, query: asked } of row) {
        const pair = query * before.pool.width + slot;
        const factor = Math.max(0.3, 2 ** ((turn.timestamp - asked.timestamp) / HOUR / 2));
        expect(after.components.get('recency-floor')?.[pair]).toBeCloseTo(factor, 6);
        expect(after.scores[pair]).toBeCloseTo((before.scores[pair] as number) * factor, 5);
        const [relevance, part] = after.parts.values.subarray(2 * pair, 2 * pair + 2);
        expect((relevance as number) + (part as number)).toBeCloseTo(after.scores[pair] as number, 5);
      }
    expect(after.parts.names).toEqual(['relevance', 'recency-floor']);
    const other = await rankBy([...start, { 'recency-floor': { floor: 0.4, halfLifeHours: 2 } }]);
    expect(after.keys.slice(0, -1)).toEqual(before.keys);
    expect(other.keys.at(-1)).not.toBe(after.keys.at(-1));
  });

  test('adds to scores where it says so, and stands twice by names of its own', async () => {
    install({ name: 'bonus', summary: 's', options: {}, change: 'add', score: ({ position }) => position % 3 });
    const once = await rankBy([...start, { bonus: {} }]);
    const twice = await rankBy([...start, { bonus: {} }, { bonus: {}, as: 'again' }]);
    expect(twice.parts.names).toEqual(['relevance', 'bonus', 'again']);
    for (const [i, position] of once.pool.positions.entries())
      if (position >= 0) expect(twice.scores[i]).toBeCloseTo((once.scores[i] as number) + (position % 3), 5);
  });

  test('leaves candidates out, and those that stay keep their order and their scores', async () => {
    installPlugin(plugin);
    const before = await rankBy(start);
    const after = await rankBy([...start, { 'each-conversation': { most: 2 } }]);
    const expected = before.rows.map((row) =>
      row.filter(
        ({ turn }, i) =>
          row.slice(0, i).filter((other) => other.turn.conversationId === turn.conversationId).length < 2,
      ),
    );
    const listIds = (rows: typeof expected) => rows.map((row) => row.map(({ turn }) => turn.id));
    expect(listIds(after.rows)).toEqual(listIds(expected));
    expect(listIds(expected)).not.toEqual(listIds(before.rows));
    for (const [query, row] of after.rows.entries())
      for (const { slot } of row)
        expect(after.scores[query * after.pool.width + slot]).toBe(before.scores[query * before.pool.width + slot]);
  });

  test('has the null controls of what it reads, and asks for the data that it reads', () => {
    installPlugin(plugin);
    install({
      name: 'near',
      summary: 's',
      reads: ['coordinates'],
      compute: ({ pool }) => new Float32Array(pool.width),
    });
    const read = (...list: WrittenStep[]) => readArm(parseSteps([...start, ...list]));
    expect(listControlsOfArm(read({ near: {} }))).toEqual(['shuffled-coordinates']);
    expect(listControlsOfArm(read({ 'recency-floor': {} }, { 'each-conversation': {} }))).toEqual([]);
    const listNeeds = (...list: WrittenStep[]) => {
      const { steps, outline } = read(...list);
      return steps.flatMap((step) =>
        step.needs(outline, (reader) => findNeed(reader, new Set(['clock', 'threads'] as const))),
      );
    };
    expect(listNeeds({ 'recency-floor': {} }).map(({ needs }) => needs)).toEqual(['clock']);
    install({ name: 'texts', summary: 's', reads: ['texts'], keep: (ranked) => ranked.map(() => true) }, 'texts');
    expect(listNeeds({ texts: {} })).toEqual([]);
    const part = 'step each-conversation';
    expect(listNeeds({ 'each-conversation': {} })).toEqual([
      { needs: 'threads', part, remedy: 'leave the step each-conversation out, or declare reads in its plugin' },
    ]);
  });

  test('is in the schema for editors', () => {
    installPlugin(plugin);
    expect(JSON.stringify(buildConfigJsonSchema())).toContain('"recency-floor"');
  });

  test.each<[string, PluginStep, RegExp]>([
    [
      'a negative number',
      { name: 'low', summary: 's', score: () => -1 },
      /plugin own 1: step low returned a negative number: -1; return numbers from 0 up/,
    ],
    ['no number', { name: 'low', summary: 's', score: () => Number.NaN }, /step low returned NaN for query/],
    [
      'too few answers',
      { name: 'low', summary: 's', keep: () => [true] },
      /step low returned Array for query .*; return true or false for each of its \d+ candidates/,
    ],
    [
      'an error',
      {
        name: 'low',
        summary: 's',
        keep: () => {
          throw new Error('no luck');
        },
      },
      /step low threw: no luck/,
    ],
  ])('that gives %s is an error with its name', async (_, step, error) => {
    install(step);
    await expect(rankBy([...start, { low: {} }])).rejects.toThrow(error);
  });

  test.each<[string, object, RegExp]>([
    ['no function', {}, /steps\[0\]: expected one of score, compute and keep/],
    ['two functions', { score: () => 1, keep: () => [] }, /steps\[0\]: expected one of score, compute and keep/],
    ['a change of what it keeps', { keep: () => [], change: 'add' }, /change beside score or compute alone/],
    ['a name with capitals', { name: 'Low', score: () => 1 }, /steps\[0\]\.name: expected lower-case/],
  ])('with %s is refused', (_, more, error) => {
    const step = { name: 'low', summary: 's', ...more } as PluginStep;
    expect(() => definePlugin({ name: 'own', version: 1, steps: [step] })).toThrow(error);
  });

  test.each(['decay', 'set', 'bm25', 'relevance', 'cosine'])('cannot be named %s', (name) => {
    expect(() => install({ name, summary: 's', score: () => 1 })).toThrow(/name is taken among steps/);
  });
});

describe('in a config', () => {
  const head = [
    'name: own-steps',
    `plugins: [${MODULE}]`,
    'dataset: { name: spamassassin-threads }',
    'embedding: { encoder: lsa }',
    'evaluation: { baseline: words }',
    'arms:',
    '  words: [search: { bm25: {} }]',
  ];

  async function listFaults(...lines: string[]): Promise<string[]> {
    const path = join(folder, 'config.yaml');
    writeFileSync(path, [...head, ...lines].join('\n'));
    try {
      await openConfig(path);
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigurationError);
      return (error as ConfigurationError).faults.map(
        ({ line, path: at, nearest }) => `${line} ${at} ${nearest ?? ''}`,
      );
    }
    return [];
  }

  test('a step stands in then, is changed by set, and is tuned', async () => {
    expect(
      await listFaults(
        '  fading: { from: words, then: [recency-floor: {}], tune: { recency-floor.floor: [0.1, 0.2] } }',
        '  slower: { from: fading, set: { recency-floor.halfLifeHours: 48 } }',
        '  fewer: { from: slower, then: [{ each-conversation: {}, as: few }], set: { few.most: 3 } }',
      ),
    ).toEqual([]);
  });

  test.each<[string, string, string[]]>([
    [
      'a misspelt step',
      '  a: { from: words, then: [recency-flor: {}] }',
      ['8 arms.a.then[0].recency-flor recency-floor'],
    ],
    [
      'a misspelt option',
      '  a: { from: words, then: [recency-floor: { flor: 0.1 }] }',
      ['8 arms.a.then[0].recency-floor.flor floor'],
    ],
    [
      'a value that is none',
      '  a: { from: words, then: [recency-floor: { floor: 2 }] }',
      ['8 arms.a.then[0].recency-floor.floor '],
    ],
    [
      'a value that is none, by its path',
      '  a: { from: words, then: [each-conversation: {}], set: { each-conversation.most: 0 } }',
      ['8 arms.a.set.each-conversation.most '],
    ],
    [
      'a misspelt path',
      '  a: { from: words, then: [each-conversation: {}], set: { each-conversatoin.most: 3 } }',
      ['8 arms.a.set.each-conversatoin.most each-conversation'],
    ],
    [
      'a step after one that gives another state',
      '  a: { from: words, then: [each-conversation: {}, recency-floor: {}] }',
      ['8 arms.a.then[1].recency-floor '],
    ],
  ])('%s is an error at its line', async (_, line, faults) => expect(await listFaults(line)).toEqual(faults));

  test('a plugin that the config does not list is an error', () => {
    installPlugin(plugin);
    const config = {
      name: 'own-steps',
      dataset: { name: 'spamassassin-threads' },
      embedding: { encoder: 'lsa' },
      evaluation: { baseline: 'words' },
      arms: { words: [{ search: { bm25: {} } }, { 'each-conversation': {}, as: 'few' }] },
    };
    expect(() => resolveConfig(config, 'test.yaml')).toThrow(
      /words\[1\]\.each-conversation: expected plugin floor-steps in plugins/,
    );
  });
});
