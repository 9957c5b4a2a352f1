import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/backend.ts';
import { buildNewestPool } from '../columns.harness.ts';
import type { Workspace } from '../workspace.ts';
import { listSignalNames, signalBankOptions } from './options.ts';
import { computeRefittedSignals, listEncoderSignals } from './refitted-signals.ts';
import { type SignalTable, signalTable } from './signal-bank.ts';
import { createThreadsWorkspace, drawSampleThreads } from './threads.fixture.ts';

beforeAll(() => useBackend('wasm'));

const options = signalBankOptions.parse({
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
});
