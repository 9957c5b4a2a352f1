import * as tf from '@tensorflow/tfjs-core';
import { expect, test } from 'vitest';
import { runBenchCommand } from './command.harness.ts';
import { drawContextData } from './context-data.ts';
import { ContextParts, LIMITS } from './context-parts.ts';

const SMALL = ['--n', '400', '--dimension', '32', '--questions', '10', '--asked', '40', '--kept', '5'];

test('measures every component, the peer, and repeated questions', async () => {
  const { status, output } = await runBenchCommand('context', ...SMALL);
  expect(status).toBe(0);
  for (const name of ['semantic', 'words', 'entities', 'time', 'procedures', 'summaries'])
    expect(output).toMatch(new RegExp(`\\ncandidates: ${name} +10( +[.\\d]+){3}`));
  for (const name of [
    'understanding',
    'ranking',
    'selection',
    'assembly',
    'all components',
    'peer: vector search, texts joined',
  ])
    expect(output).toMatch(new RegExp(`\\n${name} +10( +[.\\d]+){3}`));
  const [, known, shown] =
    /cache: (\d+) of 40 questions were known \(hit rate ([.\d]+)\), 5 contexts kept of \d+/.exec(output) ?? [];
  expect(Number(known)).toBeGreaterThan(0);
  expect(Number(shown)).toBeCloseTo(Number(known) / 40, 3);
  expect(output).toMatch(new RegExp(`\\ncache: known +${known} `));
});

test('each source gives what it promises, and no tensor is left', async () => {
  const parts = await ContextParts.build(drawContextData({ size: 1000, dimension: 32, questions: 10, seed: 3 }));
  const before = tf.memory().numTensors;
  const { memories } = parts.data;
  for (const question of parts.data.questions.keys()) {
    const understood = await parts.understand(question);
    const [named] = understood.entities;
    for (const position of await parts.findByEntities(understood))
      expect(memories[position]?.entities).toContain(named?.canonicalId);
    for (const position of await parts.findByTime(understood))
      expect(memories[position]?.timestamp).toBeGreaterThanOrEqual(understood.timeRange?.start ?? 0);
    const procedures = await parts.searchType(question, 'procedural', LIMITS.procedures);
    expect(procedures.map((position) => memories[position]?.memoryType)).toEqual(Array(20).fill('procedural'));
    const ranked = parts.rank(question, understood, await parts.searchSemantic(question));
    const selected = await parts.select(ranked);
    expect(selected.length).toBeLessThanOrEqual(Math.min(LIMITS.selected, ranked.length));
    expect(selected[0]).toEqual(ranked[0]);
  }
  expect((await parts.understand(0)).timeRange).not.toBeNull();
  expect((await parts.understand(0)).entities).toHaveLength(1);
  expect(tf.memory().numTensors).toBe(before);
  parts.dispose();
});

test('a wrong option ends with 2', async () => {
  const errors = '--kept is not an integer: 0; give one from 1\n';
  expect(await runBenchCommand('context', '--kept', '0')).toMatchObject({ status: 2, errors });
});
