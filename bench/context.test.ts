import * as tf from '@tensorflow/tfjs-core';
import { expect, test } from 'vitest';
import { MEMORY_SOURCES } from '../src/index/memories/memory-options.ts';
import type { FoundItems } from '../src/memory/context/source.ts';
import { runBenchCommand } from './command.harness.ts';
import { drawContextData } from './context-data.ts';
import { ContextParts } from './context-parts.ts';

const SMALL = ['--n', '400', '--dimension', '32', '--questions', '10', '--asked', '40', '--kept', '5'];

test('measures every component, the peer, and repeated questions', async () => {
  const { status, output } = await runBenchCommand('context', ...SMALL);
  expect(status).toBe(0);
  for (const name of ['semantic', 'entities', 'time', 'procedural', 'summaries'])
    expect(output).toMatch(new RegExp(`\\ncandidates: ${name} +10( +[.\\d]+){3}`));
  for (const name of ['understanding', 'ranking', 'selection', 'all components', 'peer: vector search, texts joined'])
    expect(output).toMatch(new RegExp(`\\n${name} +10( +[.\\d]+){3}`));
  const [, known, shown] =
    /cache: (\d+) of 40 questions were known \(hit rate ([.\d]+)\), 5 contexts kept of \d+/.exec(output) ?? [];
  expect(Number(known)).toBeGreaterThan(0);
  expect(Number(shown)).toBeCloseTo(Number(known) / 40, 3);
  expect(output).toMatch(new RegExp(`\\ncache: known +${known} `));
});

test('the parts are those of the sources: together they give the same memories, and no tensor is left', async () => {
  const parts = await ContextParts.build(drawContextData({ size: 1000, dimension: 32, questions: 10, seed: 3 }));
  const before = tf.memory().numTensors;
  const { signal } = new AbortController();
  let named = 0;
  for (const [question, query] of parts.data.questions.entries()) {
    const asked = await parts.understand(question);
    named += asked.entities.length;
    const found = await Promise.all(MEMORY_SOURCES.map((name) => parts.search(name, question, asked)));
    const ids = new Set(found.flat().map(({ id }) => id));
    const selected = await parts.select(parts.rank(question, asked, ids));
    const answer = await parts.sources.memories({ query, k: 20, session: null, now: parts.data.now, signal });
    const { items, parts: sources } = answer as FoundItems;
    expect(items.map(({ id }) => id)).toEqual(selected.map(({ id }) => id));
    expect(sources.map((source) => source.items.length)).toEqual(found.map((turns) => turns.length));
    expect(items.length).toBeGreaterThanOrEqual(5);
  }
  expect((await parts.understand(0)).window).not.toBeNull();
  expect(named).toBeGreaterThan(1);
  expect(tf.memory().numTensors).toBe(before);
  parts.dispose();
});

test('a wrong option ends with 2', async () => {
  const errors = '--kept is not an integer: 0; give one from 1\n';
  expect(await runBenchCommand('context', '--kept', '0')).toMatchObject({ status: 2, errors });
});
