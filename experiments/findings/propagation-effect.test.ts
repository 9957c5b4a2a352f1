import { beforeAll, expect, test } from 'vitest';
import { ValidationError } from '../../src/core/errors/errors.ts';
import { useBackend } from '../../src/core/tensors/backend.ts';
import { Corpus } from '../../src/model/turns/corpus.ts';
import { buildDayCorpus } from '../conservation-drift/corpus.fixture.ts';
import { buildMeasuredCorpus } from './measured-corpus.ts';
import { measurePropagationEffects } from './propagation-effect.ts';

beforeAll(() => useBackend('wasm'));

/** A thread of two with a cosine of .6, one whose reply has no known word, and a message alone. */
const corpus = buildDayCorpus([
  ['a', 0],
  ['a', 1],
  ['b', 2],
  ['b', 3],
  ['c', 4],
]);
const measured = buildMeasuredCorpus(corpus, Float32Array.from([1, 0, 0.6, 0.8, 0, 1, 0, 0, 1, 0]), 2);

/** Own weight beside one neighbour, by their logits. */
const computeOwnShare = (mine: number, other: number) => 1 / (1 + Math.exp(other - mine));

test('figures by hand', async () => {
  const effects = await measurePropagationEffects(measured);
  expect(effects.map(({ settings }) => settings)).toEqual([
    'published',
    '+ beta .5',
    '+ itself left out',
    '+ additive',
    'framework default',
  ]);
  const spatial = Math.exp(-0.5);
  // Thread a: logit 10 for itself, 8 e^-½ for the other. Thread b: 10 and 5 for themselves, 5 e^-½ for the other.
  const weights = [
    computeOwnShare(10, 8 * spatial),
    computeOwnShare(10, 8 * spatial),
    computeOwnShare(10, 5 * spatial),
    computeOwnShare(5, 5 * spatial),
  ];
  const published = weights.reduce((a, b) => a + b, 0) / 4;
  for (const effect of effects.slice(0, 2)) expect(effect.ownWeight).toBeCloseTo(published, 6);
  for (const effect of effects.slice(2)) {
    expect(effect.ownWeight).toBe(0);
    // With β = ½ and one other message both of thread a become their mean; the one of b with a word has a zero vector to mix with, and stays.
    expect(effect.unchanged).toBeCloseTo((2 * Math.sqrt(0.8) + 1) / 3, 6);
    expect(effect.mostChanged).toBeCloseTo(Math.sqrt(0.8), 6);
    expect(effect.parentAfter).toBeCloseTo(1, 6);
  }
  for (const { parentBefore } of effects) expect(parentBefore).toBeCloseTo(0.6, 6);
});

test('as published, the mix is that of the weights', async () => {
  const [published] = await measurePropagationEffects(measured);
  const weight = computeOwnShare(10, 8 * Math.exp(-0.5));
  const share = 0.3 * (1 - weight); // of the other message, β = .3
  const first = [1 - share + 0.6 * share, 0.8 * share];
  const second = [0.6 * (1 - share) + share, 0.8 * (1 - share)];
  const [ax, ay, bx, by] = [...first, ...second] as [number, number, number, number];
  expect(published?.parentAfter).toBeCloseTo((ax * bx + ay * by) / Math.hypot(ax, ay) / Math.hypot(bx, by), 6);
  expect(published?.mostChanged).toBeCloseTo(ax / Math.hypot(ax, ay), 6);
});

test('without a reply there is no parent to look at', async () => {
  const flat = new Corpus(corpus.turns.map((turn) => ({ ...turn, parentId: null })));
  const effects = await measurePropagationEffects(buildMeasuredCorpus(flat, measured.embeddings, 2));
  for (const effect of effects) expect(effect).toMatchObject({ parentBefore: null, parentAfter: null });
});

test('messages that all stand alone are refused', () => {
  const alone = buildDayCorpus([
    ['a', 0],
    ['b', 1],
  ]);
  const refuse = () => buildMeasuredCorpus(alone, new Float32Array(4), 2);
  expect(refuse).toThrow(ValidationError);
  expect(refuse).toThrow('none of 2 conversations has two messages or more; use a larger dataset');
});
