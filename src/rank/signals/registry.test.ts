import { readdirSync, readFileSync } from 'node:fs';
import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import type { LateOptions } from '../../index/late/late-options.ts';
import { indexOptions } from '../../index/registry.ts';
import type { Bm25IndexOptions } from '../../index/words/bm25.ts';
import { PROPAGATION_PRESETS } from '../../ops/attention/options.ts';
import { attentionSignal } from './attention.ts';
import { bm25Signal } from './bm25.ts';
import { boostSignal } from './boost.ts';
import { buildNewestPool } from './columns.harness.ts';
import { createSampleWorkspace, drawSampleWorld, type SampleWorld } from './corpus.fixture.ts';
import { cosineSignal } from './cosine.ts';
import { closedFactsSignal, curationSignal } from './curation.ts';
import { decaySignal } from './decay.ts';
import { lateSignal } from './late.ts';
import { recencySignal } from './recency.ts';
import { SIGNALS } from './registry.cases.ts';
import type { Signal } from './signal.ts';
import { attentionOptions, curationArmOptions, TRAJECTORY_DEFAULTS } from './signal-options.ts';
import type { CandidatePool, Column } from './stage.ts';
import { strategySignal } from './strategy.ts';
import { trajectorySignal } from './trajectory.ts';
import type { Workspace } from './workspace.ts';
import { CONTROL_KINDS, disturbs } from './worlds/world-parts.ts';

beforeAll(() => useBackend('wasm'));
const world = drawSampleWorld(7, 61, 11, 3);
const attend = (mechanism: 'rcp' | 'ircp' | 'tpo' | 'unified') =>
  attentionSignal({ attention: attentionOptions.parse({ mechanism }), trajectory: null });

/** Every signal, with options that make it differ from the others. */
const USES: Readonly<Record<string, Signal>> = {
  bm25: bm25Signal(indexOptions.parse({ index: 'bm25' }) as Bm25IndexOptions),
  cosine: cosineSignal(null),
  'cosine, propagated': cosineSignal(PROPAGATION_PRESETS.framework),
  recency: recencySignal(null),
  boost: boostSignal([{ attribute: 'outcome', factor: 0.5 }]),
  curation: curationSignal(
    curationArmOptions.parse({ rules: { duplicateAbove: -1, updateAbove: -1, contradictAbove: -1 } }),
  ),
  'closed-facts': closedFactsSignal(curationArmOptions.parse({ facts: 'anyone' })),
  decay: decaySignal({ halfLifeHours: 5 }),
  trajectory: trajectorySignal({
    ...TRAJECTORY_DEFAULTS,
    dimensions: 7,
    weights: { branchFactor: 1, childrenCount: 1 },
  }),
  'attention, rcp': attend('rcp'),
  'attention, ircp': attend('ircp'),
  'attention, tpo': attend('tpo'),
  'attention, unified': attend('unified'),
  strategy: strategySignal({ weights: 'by-question' }),
  late: lateSignal(indexOptions.parse({ index: 'late' }) as LateOptions),
};

async function within<T>(
  sample: SampleWorld,
  work: (workspace: Workspace, pool: CandidatePool) => Promise<T>,
): Promise<T> {
  const workspace = createSampleWorkspace(sample);
  try {
    return await work(workspace, await buildNewestPool(workspace, 17));
  } finally {
    workspace.dispose();
  }
}

/** The columns of a pool by the ids of its pairs. */
function byPair(
  { queries, corpus }: Workspace,
  { positions, width }: CandidatePool,
  column: Column,
): Map<string, number> {
  const pairs = [...positions.keys()].filter((pair) => (positions[pair] as number) >= 0);
  return new Map(
    pairs.map((pair) => [
      `${queries[Math.floor(pair / width)]?.id} ${corpus.turns[positions[pair] as number]?.id}`,
      column[pair] as number,
    ]),
  );
}

test('every file that defines a signal of a chain is in the registry', () => {
  const folder = new URL('.', import.meta.url);
  const texts = readdirSync(folder)
    .filter((file) => /^[a-z0-9-]+\.ts$/.test(file))
    .map((file) => readFileSync(new URL(file, folder), 'utf8'))
    .filter((text) => /^export const \w+ = defineSignal\b/m.test(text));
  const named = texts.map((text) => SIGNALS.filter(({ definition: { name } }) => text.includes(`  name: '${name}',`)));
  expect(named.every((signals) => signals.length > 0)).toBe(true);
  expect(new Set(named.flat())).toEqual(new Set(SIGNALS));
  expect(new Set(Object.keys(USES).map((name) => name.split(',')[0]))).toEqual(
    new Set(SIGNALS.map(({ definition: { name } }) => name)),
  );
});

describe.each(Object.entries(USES))('%s', (name, use) => {
  test('is finite, 0 where the pool is padded, the same again, and leaves no tensor', async () => {
    const before = tf.memory().numTensors;
    const [first, second] = [0, 1].map(() =>
      within(world, async (workspace, pool) => ({ positions: pool.positions, column: await workspace.get(use, pool) })),
    );
    const [a, b] = [await first, await second];
    expect(a?.column).toEqual(b?.column);
    expect(a?.column.every(Number.isFinite)).toBe(true);
    const padding = a?.column.filter((_, pair) => (a.positions[pair] as number) < 0);
    expect(padding?.every((value) => value === 0)).toBe(true);
    expect(new Set(a?.column).size).toBeGreaterThan(['curation', 'closed-facts'].includes(name) ? 1 : 3); // these have three values at most
    expect(tf.memory().numTensors).toBe(before);
  });

  test('of a pair is what it was before later turns were written', async () => {
    const last = world.queries[5]!.timestamp;
    const earlier = {
      ...world,
      turns: world.turns.filter(({ timestamp }) => timestamp < last),
      queries: world.queries.filter(({ timestamp }) => timestamp <= last),
    };
    const columnsOf = (sample: SampleWorld) =>
      within(sample, async (workspace, pool) => byPair(workspace, pool, await workspace.get(use, pool)));
    const [then, now] = [await columnsOf(earlier), await columnsOf(world)];
    expect(then.size).toBeGreaterThan(20);
    for (const [pair, value] of then) expect(now.get(pair), pair).toBeCloseTo(value, 5);
  });

  test.each(CONTROL_KINDS)('changes under the control %s only if it reads what the control destroys', async (kind) => {
    await within(world, async (workspace, pool) => {
      const plain = await workspace.get(use, pool);
      const disturbed = await workspace.under({ kind, seed: 3 }).get(use, pool);
      if (disturbs(kind, use.reads)) expect(disturbed).not.toEqual(plain);
      else expect(disturbed).toBe(plain);
    });
  });

  test('reads all that its inputs read', () => {
    const setting = createSampleWorkspace(world);
    const inputs = Object.values(use.inputs(setting));
    setting.dispose();
    for (const { name, reads } of inputs) {
      // Frames have every coordinate and place; a signal may use a part of them.
      if (name === 'frames') continue;
      expect(use.reads, name).toEqual(expect.arrayContaining([...reads]));
    }
  });
});
