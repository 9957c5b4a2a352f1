import { expect, test } from 'vitest';
import { createRandom } from '../../../core/numbers/random.ts';
import { Corpus } from '../../../model/turns/corpus.ts';
import { groupSessions } from '../../../model/turns/sessions.ts';
import { SPREAD, Spread } from './sessions.ts';
import { TURNS } from './small-threads.fixture.ts';
import { drawSampleThreads } from './threads.fixture.ts';

/** The eight figures of a turn by its score and those of its session, written out. */
function computeExpectedSpread(corpus: Corpus, scores: Float64Array, cutoff: number, position: number): number[] {
  const { conversationId, channel } = corpus.turns[position] as (typeof corpus.turns)[number];
  const before = [...corpus.turns.keys()].filter((turn) => turn < cutoff);
  const session = before.filter((turn) => {
    const other = corpus.turns[turn];
    return other?.conversationId === conversationId && other.channel === channel;
  });
  const score = (turn: number | undefined) => (turn === undefined ? 0 : (scores[turn] as number));
  const highest = Math.max(...before.map(score));
  const place = session.indexOf(position);
  const best = session.map(score).sort((a, b) => b - a);
  const three = best.slice(0, 3);
  return [
    score(position),
    highest > 0 ? score(position) / highest : 0,
    ...[-2, -1, 1, 2].map((steps) => score(session[place + steps])),
    best[0] as number,
    three.reduce((sum, value) => sum + value, 0) / three.length,
  ];
}

const { turns } = drawSampleThreads(3);
const worlds = [new Corpus(TURNS), new Corpus(turns)];

test.each([
  ['scores of both signs', (value: number) => value - 0.5],
  ['scores of 0 and 1', (value: number) => Math.round(value)],
  ['nothing', () => 0],
  ['negative scores', (value: number) => -1 - value],
])('%s are spread over the session as far as it was said', (_, shape) => {
  for (const corpus of worlds) {
    const source = createRandom(5, 'spread');
    const spread = new Spread(groupSessions(corpus));
    const scores = Float64Array.from(corpus.turns, () => shape(source.uniform()));
    // Later, earlier and later again: what one moment left must not be seen at another.
    for (const cutoff of [corpus.size, 3, 7, 1, corpus.size - 1]) {
      const positions = Int32Array.from({ length: cutoff + 2 }, (_, i) => (i < cutoff ? i : -1));
      const [start, stride, column] = [7, SPREAD.length + 5, 3];
      const values = new Float32Array(start + positions.length * stride).fill(9);
      spread.write(scores, cutoff, positions, { values, start, stride, column });
      const expected = new Float32Array(values.length).fill(9);
      for (let i = 0; i < cutoff; i++)
        expected.set(computeExpectedSpread(corpus, scores, cutoff, i), start + i * stride + column);
      for (const [i, value] of expected.entries()) expect(values[i]).toBeCloseTo(value, 6);
    }
  }
});

test('a spread has eight figures, and the first of them is the score', () => {
  expect(SPREAD).toHaveLength(8);
  expect(SPREAD[0]).toBe('');
});
