import { beforeAll, expect, test } from 'vitest';
import { useBackend } from '../core/backend.ts';
import { random } from '../core/random.ts';
import { attend } from './attend.ts';
import type { AttentionRows } from './attention-rows.ts';
import { worstRowError } from './handmade-row.ts';
import { RING_ATTENTION_DEFAULTS } from './options.ts';

const D = 3;
const source = random(9, 'attend.test');
const numbers = Float32Array.from({ length: 1009 * D }, () => source.normal());

function conversation(turns: number): AttentionRows {
  const rows = numbers.subarray(0, turns * D);
  return { turns, queries: rows, keys: rows, values: rows };
}

const SAMPLE = [0, 1, 89];
beforeAll(() => useBackend('wasm'));

test('short conversations are dense, long ones banded', async () => {
  const short = await attend(conversation(97), RING_ATTENTION_DEFAULTS);
  expect(short).toMatchObject({ method: 'dense', errorBound: 0 });
  expect(short.reason).toBe(`one block of a band holds ${128 + 2 * short.bandWidth} keys, all of 97`);
  const long = await attend(conversation(1009), RING_ATTENTION_DEFAULTS);
  expect(long).toMatchObject({
    method: 'banded',
    reason: `a band of ${2 * long.bandWidth + 1} among 1009 turns`,
  });
  expect(long.errorBound).toBeGreaterThan(0);
  for (const [result, turns] of [
    [short, 97],
    [long, 1009],
  ] as const)
    expect(worstRowError(result.output, conversation(turns), RING_ATTENTION_DEFAULTS, SAMPLE)).toBeLessThan(5e-5);
});

test('a coarser tolerance looks at fewer keys', async () => {
  const fine = await attend(conversation(1009), RING_ATTENTION_DEFAULTS, { tolerance: 1e-8 });
  const coarse = await attend(conversation(1009), RING_ATTENTION_DEFAULTS, { tolerance: 1e-2 });
  expect(coarse.bandWidth).toBeLessThan(fine.bandWidth);
  expect(coarse.errorBound).toBeGreaterThan(fine.errorBound);
});

test('nothing is left out where nothing fades, or where no error is allowed', async () => {
  const still = await attend(conversation(1009), { ...RING_ATTENTION_DEFAULTS, decay: 0 });
  expect(still).toMatchObject({ method: 'dense', bandWidth: 504, errorBound: 0 });
  const exact = await attend(conversation(1009), RING_ATTENTION_DEFAULTS, { tolerance: 0 });
  expect(exact).toMatchObject({ method: 'dense', errorBound: 0 });
});

test.each([-1, Number.NaN])('refuses the tolerance %d', async (tolerance) => {
  await expect(attend(conversation(11), RING_ATTENTION_DEFAULTS, { tolerance })).rejects.toThrow(
    `tolerance must not be negative: ${tolerance}`,
  );
});

test.each([0, -3, 2.5, Number.NaN])('refuses %d turns', async (turns) => {
  await expect(attend({ ...conversation(11), turns }, RING_ATTENTION_DEFAULTS)).rejects.toThrow(`${turns}`);
});
