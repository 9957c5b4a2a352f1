import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRandom } from '../../src/core/numbers/random.ts';
import { useBackend } from '../../src/core/tensors/backend.ts';
import { writeSmallBert } from '../../src/index/encoders/bert.fixture.ts';
import type { BertOptions } from '../../src/index/encoders/encoder-options.ts';
import { encoderOptions } from '../../src/index/encoders/registry.ts';
import type { TokenText } from '../../src/model/encoder.ts';
import { drawHandmadeTable } from '../../src/rank/learning/feature-table.fixture.ts';
import { SplitBert } from '../split-bert.ts';
import { CrossEncoder, type CrossQuestion, joinPair } from './cross-encoder.ts';
import { listFirst, rerankFirst } from './study.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-cross-'));
const options = encoderOptions.parse({ encoder: 'bert', model: join(root, 'model'), pooling: 'mean' }) as BertOptions;

beforeAll(async () => {
  await useBackend('wasm');
  writeSmallBert(join(root, 'model'));
});
afterAll(() => rmSync(root, { recursive: true }));

const WORDS = ['Ann', 'cooked', 'soup', ':'];
const turn = (text: string, context: string[] = []): TokenText => ({
  text,
  owner: { kind: 'turn', id: text },
  context,
});
const ask = (text: string): TokenText => ({ text, owner: { kind: 'query', id: text }, context: [] });

/** Each question is a word, and the candidate about soup is relevant. */
async function makeQuestions(bert: SplitBert): Promise<CrossQuestion[]> {
  const questions: CrossQuestion[] = [];
  for (const word of WORDS) {
    const pairs = await bert.hide(
      WORDS.map((other) => joinPair(ask(word), turn(`${other} ${other}`), 0)),
      { multiple: 8 },
    );
    questions.push({ id: word, pairs, grades: WORDS.map((other) => Number(other === 'soup')) });
  }
  return questions;
}

test('a pair is the question after the turn and the turns before it', () => {
  const given = turn('soup', ['older', 'newer']);
  expect(joinPair(ask('who?'), given, 1)).toEqual({ ...ask('who?'), context: ['newer', 'soup'] });
  expect(joinPair(ask('who?'), given, 0).context).toEqual(['soup']);
});

test('training tells pairs apart, from equal scores on; no tensor stays', async () => {
  const before = tf.memory().numTensors;
  const bert = await SplitBert.open(options, 2);
  const cross = new CrossEncoder(bert, 4);
  const questions = await makeQuestions(bert);
  expect(questions.flatMap(({ pairs }) => pairs.map(({ states }) => (states.length / bert.dimension) % 8))).toEqual(
    new Array(16).fill(0),
  );
  const start = cross.drawStart(1);
  expect((await cross.computeLoss(start, questions)).loss).toBeCloseTo(Math.log(WORDS.length), 5);
  const training = { seed: 1, learningRate: 0.02, epochs: 20, batch: 2 };
  const theta = await cross.train(start, questions, training);
  expect((await cross.computeLoss(theta, questions)).loss).toBeLessThan(0.3);
  for (const { pairs, grades } of questions) {
    const scores = await cross.score(theta, pairs);
    expect(scores.indexOf(Math.max(...scores))).toBe(grades.indexOf(1));
  }
  const once = () => cross.train(start, questions, { ...training, epochs: 1 });
  expect(await once()).toEqual(await once());
  bert.dispose();
  expect(tf.memory().numTensors).toBe(before);
});

test('the gradient is that of the loss', async () => {
  const bert = await SplitBert.open(options, 1);
  const cross = new CrossEncoder(bert, 2);
  const questions = await makeQuestions(bert);
  const random = createRandom(2, 'numbers of pairs');
  const theta = cross.drawStart(3).map((value) => value + 0.3 * random.drawNormal());
  const { gradient } = await cross.computeLoss(theta, questions);
  const measure = async (at: number, step: number) => {
    const changed = theta.slice();
    changed[at]! += step;
    return (await cross.computeLoss(changed, questions)).loss;
  };
  for (const at of [0, 50, 100, 150, theta.length - 5, theta.length - 1]) {
    const slope = ((await measure(at, 0.01)) - (await measure(at, -0.01))) / 0.02;
    expect(Math.abs(gradient[at]! - slope)).toBeLessThan(0.02 * Math.max(0.1, Math.abs(slope)));
  }
  bert.dispose();
});

test('the first candidates stay before all others, in the order of both scores', () => {
  const table = drawHandmadeTable({ queries: 1, candidates: 5, clusters: 1, signals: ['a'], seed: 1 });
  const scores = Float32Array.of(0, 50, 10, 40, 20);
  const first = listFirst(table, scores, 3);
  expect(first).toEqual([Int32Array.of(1, 3, 4)]);
  const order = (changed: Float32Array) => [...changed.keys()].sort((a, b) => changed[b]! - changed[a]!);
  const again = [Float32Array.of(-1, 0, 1)];
  expect(order(rerankFirst(table, scores, first, again, null))).toEqual([4, 3, 1, 2, 0]);
  expect(order(rerankFirst(table, scores, first, again, 0.01))).toEqual([1, 3, 4, 2, 0]);
  expect(order(rerankFirst(table, scores, first, again, 10))).toEqual([4, 3, 1, 2, 0]);
});
