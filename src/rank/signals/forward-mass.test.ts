import { describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { buildConversationTurns } from '../../model/turns/conversations.fixture.ts';
import {
  computeForwardLogMasses,
  type ForwardOptions,
  type Looker,
  listTurnsAhead,
  type TurnsAhead,
} from './forward-mass.ts';

const TURNS = 23;
const source = createRandom(17, 'forward-mass.test');
const similarity = Array.from({ length: TURNS }, () => Array.from({ length: TURNS }, () => 2 * source.uniform() - 1));

/** A conversation of 23 turns, whose corpus positions are 100 and so on. */
const buildAhead = (width: number, asked: Looker[] = []) => ({
  width,
  copyCosines(looker: Looker, start: number, end: number, into: Float64Array, at: number) {
    for (let steps = start; steps < end; steps++) {
      asked.push({ ...looker });
      into[at + steps - start] = similarity[looker.position - 100]![looker.ringPosition + steps] as number;
    }
  },
});

/** Every position of the conversation at every later moment. */
const lookers = Array.from({ length: TURNS }, (_, at) =>
  Array.from({ length: TURNS - at }, (_, more) => ({
    position: 100 + at,
    ringPosition: at,
    turns: at + 1 + more,
  })),
).flat();

function computeForwardMasses(width: number, options: ForwardOptions, asked: readonly Looker[], record?: Looker[]) {
  const pairs = {
    positions: Int32Array.from(asked, ({ position }) => position),
    ringPositions: Int32Array.from(asked, ({ ringPosition: at }) => at),
    turns: Int32Array.from(asked, ({ turns }) => turns),
  };
  return computeForwardLogMasses(buildAhead(width, record), pairs, options);
}

/**
 * `ln sum_j e^logit_j` over the turns from a position on, those beyond the band counting e^0 or nothing; -1e30 for
 * none.
 */
function logMass({ ringPosition: at, turns }: Looker, width: number, options: ForwardOptions): number {
  const { topology, combine, self, decay, temperature } = options;
  const logits: number[] = [];
  for (let j = at + (self === 'exclude' ? 1 : 0); j < turns; j++) {
    const distance = topology === 'ring' ? Math.min(j - at, turns + 1 - (j - at)) : j - at;
    const semantic = (1 + similarity[at]![j]!) / 2 / temperature;
    if (distance > width) logits.push(combine === 'multiplicative' ? 0 : Number.NEGATIVE_INFINITY);
    else
      logits.push(combine === 'multiplicative' ? Math.exp(-decay * distance) * semantic : semantic - decay * distance);
  }
  const greatest = Math.max(...logits);
  if (greatest === Number.NEGATIVE_INFINITY) return -1e30;
  return greatest + Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit - greatest), 0));
}

const CHOICES = (['ring', 'line'] as const).flatMap((topology) =>
  (['multiplicative', 'additive'] as const).flatMap((combine) =>
    (['include', 'exclude'] as const).map((self) => ({ topology, combine, self })),
  ),
);

describe.each(CHOICES)('$topology, $combine, self $self', (choice) => {
  // The last makes logits of up to 1000, whose powers no float64 holds.
  test.each([
    [1, 0.5, 0.1],
    [5, 0.1, 0.3],
    [11, 0.03, 0.7],
    [23, 0.3, 0.1],
    [7, 0.01, 0.001],
  ])('the mass of a band of %i, decay %d, temperature %d', async (width, decay, temperature) => {
    const options = { ...choice, decay, temperature };
    const masses = await computeForwardMasses(width, options, lookers);
    for (const [i, looker] of lookers.entries()) {
      const expected = logMass(looker, width, options);
      expect(Math.abs(masses[i]! - expected), JSON.stringify(looker)).toBeLessThan(1e-6 * (1 + Math.abs(expected)));
    }
  });
});

const OPTIONS = { topology: 'ring', combine: 'multiplicative', self: 'include', decay: 0.5, temperature: 0.1 } as const;

test('what a candidate sees at a moment is looked at once, whoever asks', async () => {
  const [once, thrice]: [Looker[], Looker[]] = [[], []];
  const some = lookers.filter((_, i) => i % 7 === 3);
  const alone = await computeForwardMasses(5, OPTIONS, some, once);
  const masses = await computeForwardMasses(5, OPTIONS, [...some, ...some, ...some.toReversed()], thrice);
  expect(thrice).toEqual(once);
  expect([...masses]).toEqual([...alone, ...alone, ...alone.toReversed()]);
});

test('padding is 0 and asks for nothing', async () => {
  const record: Looker[] = [];
  const padding = { position: -1, ringPosition: 0, turns: 3 };
  expect([...(await computeForwardMasses(5, OPTIONS, [padding, padding], record))]).toEqual([0, 0]);
  expect(record).toEqual([]);
  expect(await computeForwardMasses(5, OPTIONS, [])).toHaveLength(0);
});

test('masses of several options that are computed at the same time do not affect each other', async () => {
  const pairs = {
    positions: new Int32Array(5000),
    ringPositions: new Int32Array(5000),
    turns: Int32Array.from({ length: 5000 }, (_, pair) => pair + 1),
  };
  const ahead: TurnsAhead = {
    width: 5,
    copyCosines: (_, start, end, into, at) => into.fill(0.5, at, at + end - start),
  };
  const compute = (temperature: number) => computeForwardLogMasses(ahead, pairs, { ...OPTIONS, temperature });
  const alone = [await compute(0.1), await compute(0.4)];
  expect(await Promise.all([compute(0.1), compute(0.4)])).toEqual(alone);
  expect(alone[0]).not.toEqual(alone[1]);
});

test('in the order of time near turns are found ahead, and those beyond the band from the beginning', () => {
  const [width, size] = [3, 11];
  const turns = buildConversationTurns([size, 1]);
  const tables = {
    width,
    next: Float32Array.from({ length: size * (width + 1) }, (_, i) => 100 * Math.floor(i / 4) + (i % 4)),
    first: Float32Array.from({ length: size * width }, (_, i) => -100 * Math.floor(i / 3) - (i % 3)),
  };
  const order = listTurnsAhead(turns, [tables], width);
  expect(order.width).toBe(3);
  const looker = { position: 8, ringPosition: 1, turns: 9 };
  const copied = new Float64Array(9).fill(7);
  order.copyCosines(looker, 1, 4, copied, 2);
  order.copyCosines(looker, 3, 7, copied, 4);
  expect([...copied]).toEqual([7, 7, 101, 102, 103, -501, -601, -701, 7]);
});
