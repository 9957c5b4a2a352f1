import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { useBackend } from '../../../core/tensors/backend.ts';
import { buildNewestPool } from '../columns.harness.ts';
import { ADDED_SIGNALS, defineSignal } from '../signal.ts';
import type { Workspace } from '../workspace.ts';
import type { WorldPart } from '../worlds/world-parts.ts';
import { listSignalNames, SIGNAL_GROUPS, signalBankOptions } from './options.ts';
import { computeRefittedSignals, listEncoderSignals } from './refitted-signals.ts';
import { type SignalTable, signalTable } from './signal-bank.ts';
import { createThreadsWorkspace, drawSampleThreads } from './threads.fixture.ts';

beforeAll(() => useBackend('wasm'));
afterEach(() => {
  for (const name of ADDED_SIGNALS.names) ADDED_SIGNALS.remove(name);
});

const options = signalBankOptions.parse({
  groups: SIGNAL_GROUPS.filter((group) => group !== 'attributes'),
  encoders: [{ encoder: 'lsa', dimension: 5, minDocumentFrequency: 1, oversampling: 2 }],
});
const names = listSignalNames(options);
const world = drawSampleThreads(3, 37, 7);

/** The same threads by an encoder of other vectors. */
function drawOtherVectors() {
  const ids = [...world.vectorOf.keys()];
  const turned = ids.map((id, i) => [id, world.vectorOf.get(ids[(i + 5) % ids.length] as string)] as const);
  return { ...world, vectorOf: new Map(turned.map(([id, vector]) => [id, vector as Float32Array])) };
}

async function computeBankTable(workspace: Workspace): Promise<SignalTable> {
  return workspace.get(signalTable(options), await buildNewestPool(workspace, 61));
}

function listColumnValues({ signals, values }: SignalTable, name: string): number[] {
  const at = signals.indexOf(name);
  return Array.from({ length: values.length / signals.length }, (_, pair) => values[pair * signals.length + at]!);
}

describe('signals of another encoder', () => {
  test('are those of a whole bank with this encoder, and all others differ in nothing', async () => {
    const [before, after] = [createThreadsWorkspace(world), createThreadsWorkspace(drawOtherVectors())];
    try {
      const base = await computeBankTable(before);
      const whole = await computeBankTable(after);
      const pool = await buildNewestPool(after, 61);
      const found = await computeRefittedSignals(after, pool, options, { cosines: ['cosine'], wanted: names, base });
      const dependent = listEncoderSignals(options, ['cosine']);
      for (const name of names) {
        expect(listColumnValues(found, name), name).toEqual(listColumnValues(whole, name));
        expect(
          listColumnValues(whole, name).some((value, i) => value !== listColumnValues(base, name)[i]),
          name,
        ).toBe(dependent.includes(name));
      }
    } finally {
      before.dispose();
      after.dispose();
    }
  });

  test('are a cosine and what is spread of it where the encoder is not the own one', () => {
    const spread = ['', '@share', '@previous-2', '@previous', '@next', '@next-2', '@session-best', '@session-mean'];
    expect(listEncoderSignals(options, ['cosine.lsa'])).toEqual(spread.map((suffix) => `cosine.lsa${suffix}`));
    const time = signalBankOptions.parse({ groups: ['time'] });
    expect(listEncoderSignals(time, ['cosine'])).toEqual([]);
  });

  test('are as many as are wanted, with the factors of a product', async () => {
    const workspace = createThreadsWorkspace(world);
    try {
      const base = await computeBankTable(workspace);
      const pool = await buildNewestPool(workspace, 61);
      const product = 'thread.last*cosine@share';
      const found = await computeRefittedSignals(workspace, pool, options, {
        cosines: ['cosine'],
        wanted: [product],
        base,
      });
      expect(listColumnValues(found, product)).toEqual(listColumnValues(base, product));
      expect(found.signals).not.toContain('trajectory.5');
      expect(found.signals).toContain('thread.last');
    } finally {
      workspace.dispose();
    }
  });

  test('include the signals of plugins that read vectors, and no other of them', async () => {
    for (const [name, reads] of Object.entries({ 'added.vectors': 'vectors', 'added.texts': 'texts' } as const))
      addSignal(name, reads);
    const bank = signalBankOptions.parse({ groups: ['time'], plugins: { 'added.vectors': {}, 'added.texts': {} } });
    expect(listSignalNames(bank).slice(-2)).toEqual(['added.vectors', 'added.texts']);
    expect(listEncoderSignals(bank, ['cosine'])).toEqual(['added.vectors']);
    const [before, after] = [createThreadsWorkspace(world), createThreadsWorkspace(drawOtherVectors())];
    try {
      const base = await before.get(signalTable(bank), await buildNewestPool(before, 61));
      const pool = await buildNewestPool(after, 61);
      const whole = await after.get(signalTable(bank), pool);
      const refit = { cosines: ['cosine'], wanted: listSignalNames(bank), base };
      const found = await computeRefittedSignals(after, pool, bank, refit);
      for (const name of refit.wanted)
        expect(listColumnValues(found, name), name).toEqual(listColumnValues(whole, name));
      expect(listColumnValues(whole, 'added.vectors')).not.toEqual(listColumnValues(base, 'added.vectors'));
    } finally {
      before.dispose();
      after.dispose();
    }
  });
});

/** A signal of a plugin: a coordinate of the candidate's vector, or the length of its text. */
function addSignal(name: string, reads: WorldPart): void {
  const use = defineSignal<object>({
    name: name.replace('.', '-'),
    summary: 's',
    module: import.meta.url,
    reads: [reads],
    compute: ({ world: { turnVectors, dimension, corpus }, pool }) =>
      Float32Array.from(pool.positions, (position) => {
        if (position < 0) return 0;
        const value = reads === 'vectors' ? turnVectors[position * dimension] : corpus.turns[position]?.text.length;
        return value as number;
      }),
  });
  const options = z.strictObject({});
  ADDED_SIGNALS.add({ name, summary: 's', options, indexes: [], create: use, assertNotNegative() {} });
}
