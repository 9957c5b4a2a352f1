import { beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../../core/tensors/backend.ts';
import { TokenStore } from '../../../index/encoders/token-cache.ts';
import { createWordTokens, openWordTokens } from '../../../index/encoders/word-tokens.fixture.ts';
import { LATE_SCORE_NAMES, LATE_VIEWS } from '../../../index/late/late-options.ts';
import { LateTurns } from '../../../index/late/late-turns.ts';
import type { Query } from '../../../model/dataset.ts';
import { Corpus } from '../../../model/turns/corpus.ts';
import type { Turn } from '../../../model/turns/turn.ts';
import { buildNewestPool } from '../columns.harness.ts';
import { Workspace } from '../workspace.ts';
import { bankSignals, type SignalBankOptions, signalBankOptions } from './options.ts';
import { signalTable } from './signal-bank.ts';

beforeAll(() => useBackend('wasm'));

const TEXTS =
  'bread and soup|the old train|soup again|corn and milk|no bread|fish for the wolf|a lamp|milk|salt|drum'.split('|');
/** Three threads of one list and one of another; the first thread has no turn among the newest. */
const THREADS = ['a', 'b', 'a', 'c', 'd', 'c', 'b', 'd', 'b', 'c'];

const turns = TEXTS.map(
  (text, n): Turn => ({
    id: `t${n}`,
    conversationId: THREADS[n] as string,
    parentId: null,
    timestamp: n,
    author: null,
    channel: THREADS[n] === 'd' ? 'other' : 'list',
    text,
  }),
);
const query: Query = {
  id: 'q',
  text: 'bread with soup and milk',
  timestamp: TEXTS.length,
  anchorTurnId: null,
  author: null,
  channel: 'list',
  split: 'dev',
  cluster: 'b',
};

async function readTable(width: number, around: SignalBankOptions['around'], openTokens = openWordTokens) {
  const vectors = (count: number) => new Float32Array(count * 2).fill(Math.SQRT1_2);
  const corpus = new Corpus(turns);
  const workspace = new Workspace({
    ...{ openTokens, corpus, queries: [query], dimension: 2, seed: 1 },
    ...{ turnVectors: vectors(turns.length), queryVectors: vectors(1) },
  });
  const options = signalBankOptions.parse({ groups: ['late'], around });
  const pool = await buildNewestPool(workspace, width);
  const table = await workspace.get(signalTable(options), pool);
  const read = (name: string) => {
    const column = table.signals.indexOf(name);
    return new Map(
      Array.from(pool.positions, (turn, n) => [turn, table.values[n * table.signals.length + column] as number]),
    );
  };
  return { read, signals: table.signals, dispose: () => workspace.dispose() };
}

test.each([
  ['session', [3, 5, 9]],
  ['channel', [3, 5, 6, 8, 9]],
] as const)(
  'signals are scores over the session of a candidate and the turns around it: %s',
  async (around, compared) => {
    const { read, dispose } = await readTable(1, around);
    for (const view of LATE_VIEWS) {
      const late = new LateTurns(new Corpus(turns), await openWordTokens(), { view, author: false, around });
      const batch = {
        texts: [query.text],
        cutoffs: Int32Array.of(turns.length),
        visible: [Int32Array.from(compared)],
      };
      await late.score(batch, (_, scores) => {
        for (const score of LATE_SCORE_NAMES) {
          const name = score === 'zidf' ? `late.${view}` : `late.${view}.${score}`;
          const expected = scores.get(score)[[...scores.visible].indexOf(9)] as number;
          expect(read(name).get(9), name).toBeCloseTo(expected, 5);
        }
        const zidf = (turn: number) => scores.get('zidf')[[...scores.visible].indexOf(turn)] as number;
        expect(read(`late.${view}@previous`).get(9)).toBeCloseTo(zidf(5), 5);
        expect(read(`late.${view}@session-best`).get(9)).toBeCloseTo(Math.max(zidf(3), zidf(5), zidf(9)), 5);
      });
    }
    dispose();
  },
);

test('without the turns around them, candidates are compared with each other by what they say, and no reply is read', async () => {
  const { read, signals, dispose } = await readTable(3, 'none');
  const late = new LateTurns(new Corpus(turns), await openWordTokens(), { view: 'plain', author: false });
  const batch = {
    texts: [query.text],
    cutoffs: Int32Array.of(turns.length),
    visible: [Int32Array.of(7, 8, 9)],
  };
  const own = LATE_SCORE_NAMES.filter((score) => score !== 'near' && score !== 'window');
  const nameOf = (score: string) => (score === 'zidf' ? 'late.plain' : `late.plain.${score}`);
  await late.score(batch, (_, scores) => {
    for (const score of own)
      for (const [i, turn] of [7, 8, 9].entries())
        expect(read(nameOf(score)).get(turn), score).toBeCloseTo(scores.get(score)[i] as number, 5);
  });
  expect(signals).toEqual(own.map(nameOf));
  const bank = bankSignals(signalBankOptions.parse({ groups: ['text', 'form', 'late'], around: 'none' }));
  expect(bank.filter(({ reads }) => reads.includes('replies'))).toEqual([]);
  dispose();
});

test('tokens of turns that no signal takes are not computed', async () => {
  const { source, seen } = createWordTokens();
  const { dispose } = await readTable(2, 'session', () => TokenStore.open(source, null));
  for (const [n, text] of TEXTS.entries()) {
    const isCompared = ['b', 'c'].includes(THREADS[n] as string);
    expect(seen.includes(text), text).toBe(isCompared);
  }
  dispose();
});
