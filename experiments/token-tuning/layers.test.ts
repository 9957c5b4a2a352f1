import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRandom } from '../../src/core/numbers/random.ts';
import { useBackend } from '../../src/core/tensors/backend.ts';
import { ignoreProgress } from '../../src/core/terminal/progress.ts';
import { writeSmallBert } from '../../src/index/encoders/bert.fixture.ts';
import { loadBert } from '../../src/index/encoders/bert.ts';
import type { BertOptions } from '../../src/index/encoders/encoder-options.ts';
import { encoderOptions } from '../../src/index/encoders/registry.ts';
import { quantiseTokens } from '../../src/index/encoders/token-cache.ts';
import type { StoredTokens, TokenText } from '../../src/model/encoder.ts';
import { LastLayers } from './layers.ts';
import { createLayered } from './study.ts';
import { computeTokenLoss, countNumbers, scoreTokens, splitNumbers, type TokenModel } from './token-model.ts';
import { TokenBatches, type TokenQuestions } from './token-questions.ts';
import { drawTokenStart } from './tuning.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-layers-'));
const options = encoderOptions.parse({
  encoder: 'bert',
  model: join(root, 'model'),
  pooling: 'mean',
  queryPrompt: 'query: ',
}) as BertOptions;
const D = 12;

const TURNS: TokenText[] = ['Ann cooked soup', 'soup', 'cooked : soup', 'Ann'].map((text, i) => ({
  text,
  owner: { kind: 'turn', id: `t${i}` },
  context: i === 0 ? [] : ['soup'],
}));
const QUESTIONS: TokenText[] = ['Ann soup', 'cooked'].map((text, i) => ({
  text,
  owner: { kind: 'query', id: `q${i}` },
  context: [],
}));

async function encode(texts: readonly TokenText[]): Promise<StoredTokens[]> {
  const encoder = await loadBert(options);
  const tokens = await encoder.encodeTokens(
    texts.map(({ text }) => text),
    { owners: texts.map(({ owner }) => owner), context: texts.map(({ context }) => context ?? []) },
  );
  encoder.dispose();
  return tokens.map((own) => quantiseTokens(own, D));
}

async function readQuestions(): Promise<TokenQuestions> {
  const table = {
    signals: [],
    queryIds: ['q0', 'q1'],
    clusters: ['a', 'a'],
    width: 4,
    values: new Float32Array(),
    mask: new Uint8Array(8).fill(1),
    grades: Float32Array.of(0, 0, 1, 0, 1, 0, 0, 0),
    missed: new Int32Array(2),
    missedGrades: new Float32Array(),
    relevantGrade: 1,
  };
  return {
    dimension: D,
    questions: await encode(QUESTIONS),
    turns: new Map((await encode(TURNS)).map((tokens, position) => [position, tokens])),
    positions: Int32Array.of(0, 1, 2, 3, 0, 1, 2, 3),
    table,
    texts: { questions: QUESTIONS, turns: new Map(TURNS.map((text, position) => [position, text])) },
  };
}

beforeAll(async () => {
  await useBackend('wasm');
  writeSmallBert(join(root, 'model'));
});
afterAll(() => rmSync(root, { recursive: true }));

test('adapters of 0 give the vectors of the encoder, and others do not; no tensor stays', async () => {
  const before = tf.memory().numTensors;
  const of = await readQuestions();
  const layers = await LastLayers.open(options, of.texts, 1, ignoreProgress);
  const form = layers.createForm(2);
  expect(form.shapes).toEqual([
    [12, 2],
    [2, 36],
    [12, 2],
    [2, 12],
    [12, 2],
    [2, 20],
    [20, 2],
    [2, 12],
  ]);
  const random = createRandom(1, 'adapters');
  const zero = form.shapes.map(([a, b], i) =>
    Float32Array.from({ length: a * b }, () => (i % 2 === 0 ? random.drawNormal() : 0)),
  );
  const same = await layers.encode(of, form, zero, Int32Array.of(0, 1));
  for (const [a, b] of [
    ...of.questions.map((tokens, q) => [tokens, same.questions[q]!] as const),
    ...[...of.turns].map(([position, tokens]) => [tokens, same.turns.get(position)!] as const),
  ]) {
    expect(b.ids).toEqual(a.ids);
    for (const [i, value] of a.values.entries()) expect(Math.abs(b.values[i]! - value)).toBeLessThanOrEqual(1);
  }
  const moved = await layers.encode(
    of,
    form,
    zero.map((array) => array.map((value) => value + 0.3)),
    Int32Array.of(1),
  );
  expect(moved.questions[0]).toBe(of.questions[0]);
  expect(moved.questions[1]!.values).not.toEqual(of.questions[1]!.values);
  layers.dispose();
  expect(tf.memory().numTensors).toBe(before);
});

test('the gradient is that of the loss', async () => {
  const of = await readQuestions();
  const layers = await LastLayers.open(options, of.texts, 2, ignoreProgress);
  const model: TokenModel = { form: layers.createForm(2), dimension: D };
  const batch = new TokenBatches(of).make([0, 1], null);
  const random = createRandom(2, 'adapters');
  const theta = drawTokenStart(model, 3).map((value) => value + 0.2 * random.drawNormal());
  const { gradient } = await computeTokenLoss(model, theta, batch);
  const measure = async (at: number, step: number) => {
    const changed = theta.slice();
    changed[at]! += step;
    return (await computeTokenLoss(model, changed, batch)).loss;
  };
  const count = countNumbers(model);
  for (const at of [0, 30, 100, 200, 300, 400, count - 14, count - 1]) {
    const slope = ((await measure(at, 0.003)) - (await measure(at, -0.003))) / 0.006;
    expect(Math.abs(gradient[at]! - slope)).toBeLessThan(0.03 * Math.max(0.5, Math.abs(slope)));
  }
  layers.dispose();
});

test('rows are scored as they are trained, gate and all', async () => {
  const of = await readQuestions();
  const layers = await LastLayers.open(options, of.texts, 1, ignoreProgress);
  const batches = new TokenBatches(of);
  const { model, start, score } = createLayered(batches, layers, 2, 4);
  const random = createRandom(5, 'adapters');
  const theta = start.map((value, i) => (i + 1 === start.length ? 0 : value + 0.3 * random.drawNormal()));
  const rows = await score(theta, Int32Array.of(0, 1));
  const trained = await scoreTokens(model, theta, batches.make([0, 1], null));
  // Scored vectors are kept in 8 bits, which matters where the turns are alike.
  for (const [i, value] of trained.entries()) expect(Math.abs(rows[i]! - value)).toBeLessThan(0.5);
  const { arrays } = splitNumbers(model, theta);
  const encoded = new TokenBatches(await layers.encode(of, model.form, arrays, Int32Array.of(0, 1)));
  const [before, after] = [batches, encoded].map((made) => made.make([0, 1], null));
  expect(after?.questions.vectors).not.toEqual(before?.questions.vectors);
  expect(after?.gated).toEqual(before?.questions.vectors);
  layers.dispose();
});
