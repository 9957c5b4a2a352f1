import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { openRetrievalLog } from '../../memory/retrievals/retrieval-log.ts';
import {
  compareByInterleaving,
  estimateFromLog,
  interleaveByTeamDraft,
  listInterleavedOutcomes,
  listLoggedChoices,
} from './counterfactual.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-retrieval-events-'));
afterAll(() => rmSync(root, { recursive: true }));

/** How often each strategy finds something of use. */
const RATES = { narrow: 0.2, wide: 0.7 };

test('a log of two strategies tells what the better one alone would have given', async () => {
  const log = await openRetrievalLog(join(root, 'choices'), { fsync: 'never' });
  const random = createRandom(5, 'retrieval-events');
  for (let i = 0; i < 400; i++) {
    const strategy = random.uniform() < 0.8 ? 'narrow' : 'wide';
    const propensity = strategy === 'narrow' ? 0.8 : 0.2;
    const session = `s${Math.floor(i / 2)}`;
    const event = await log.record({ query: `q${i}`, session, retrieved: ['m'], strategy, propensity, time: i });
    const isUsed = random.uniform() < RATES[strategy];
    if (i % 100 !== 99) await log.recordUse(event, isUsed ? ['m'] : [], i);
  }
  const events = log.events();
  await log.close();
  const choices = listLoggedChoices(events, { target: ({ strategy }) => (strategy === 'wide' ? 1 : 0) });
  expect(choices).toHaveLength(396); // four are not known
  expect(new Set(choices.map(({ cluster }) => cluster)).size).toBe(200);
  const { value } = estimateFromLog(choices, 'snips', { seed: 3 });
  expect(value.low as number).toBeLessThan(RATES.wide);
  expect(value.high as number).toBeGreaterThan(RATES.wide);
  expect(value.low as number).toBeGreaterThan(RATES.narrow);
});

test('interleaved rankings credit the system that chose what was of use', async () => {
  const log = await openRetrievalLog(join(root, 'teams'), { fsync: 'never' });
  for (let i = 0; i < 41; i++) {
    const { ids, teams } = interleaveByTeamDraft(['x', 'y'], ['z', 'x'], { depth: 3, seed: 7, key: `${i}` });
    const event = await log.record({ query: `q${i}`, retrieved: ids, teams, strategy: 'interleaved', time: i });
    await log.recordUse(event, ['z'], i);
  }
  await log.record({ query: 'plain', retrieved: ['x'], strategy: 'a alone', time: 50 });
  const outcomes = listInterleavedOutcomes(log.events());
  await log.close();
  const { preference, wins, ties } = compareByInterleaving(outcomes, { seed: 7 });
  expect([outcomes.length, wins.a, wins.b, ties, preference.mean]).toEqual([41, 0, 41, 0, -1]);
});
