import { beforeAll, expect, test } from 'vitest';
import { createRandom } from '../../src/core/numbers/random.ts';
import { useBackend } from '../../src/core/tensors/backend.ts';
import { ignoreProgress } from '../../src/core/terminal/progress.ts';
import { quantiseTokens } from '../../src/index/encoders/token-cache.ts';
import { loadConfig } from '../../src/lab/config/config.ts';
import { readTraining } from '../../src/lab/training/training-config.ts';
import type { StoredTokens } from '../../src/model/encoder.ts';
import { averageTokens, computeTokenMaxima, standardiseMaxima } from '../../src/ops/late/late-interaction.ts';
import { createTableMetric } from '../../src/rank/learning/fit-options.ts';
import { tokenTuning } from './study.ts';
import { computeTokenLoss, countNumbers, createProjection, scoreTokens, type TokenModel } from './token-model.ts';
import { TokenBatches, type TokenQuestions } from './token-questions.ts';
import { drawControls, drawTokenStart, scoreRows, type Tunable, trainTokens, tuneTokens } from './tuning.ts';

beforeAll(() => useBackend('wasm'));

const D = 12;
const TURNS = 20;
/** The first numbers of a vector say what it is about, the others are louder and say nothing. */
const TOPIC = 4;

/** Conversations of turns with three tokens each; a question has a token of one of them, apart from the noise. */
function plantQuestions(conversations: number, each: number, seed: number): TokenQuestions {
  const random = createRandom(seed, 'planted tokens');
  const drawTopic = () => Float32Array.from({ length: TOPIC }, () => random.drawNormal());
  const say = (topics: readonly Float32Array[], ids: readonly number[]): StoredTokens => {
    const vectors = new Float32Array(topics.length * D);
    for (const [t, topic] of topics.entries())
      for (let d = 0; d < D; d++) vectors[t * D + d] = topic[d] ?? 2 * random.drawNormal();
    for (let t = 0; t < topics.length; t++) {
      const row = vectors.subarray(t * D, (t + 1) * D);
      const length = Math.hypot(...row);
      for (let d = 0; d < D; d++) row[d]! /= length;
    }
    return quantiseTokens({ ids: Int32Array.from(ids), vectors }, D);
  };
  const topics = Array.from({ length: conversations * TURNS }, () => [drawTopic(), drawTopic(), drawTopic()]);
  const turns = new Map(topics.map((own, position) => [position, say(own, [position, position + 1, 7])]));
  const questions: StoredTokens[] = [];
  const count = conversations * each;
  const positions = new Int32Array(count * TURNS);
  const grades = new Float32Array(count * TURNS);
  for (let q = 0; q < count; q++) {
    const first = Math.floor(q / each) * TURNS;
    const relevant = random.integer(TURNS);
    for (let c = 0; c < TURNS; c++) positions[q * TURNS + c] = first + c;
    grades[q * TURNS + relevant] = 1;
    const about = topics[first + relevant] as Float32Array[];
    questions.push(say([about[0]!, about[1]!], [first + relevant, 7]));
  }
  const table = {
    signals: [],
    queryIds: questions.map((_, q) => `q${q}`),
    clusters: questions.map((_, q) => `c${Math.floor(q / each)}`),
    width: TURNS,
    values: new Float32Array(),
    mask: new Uint8Array(count * TURNS).fill(1),
    grades,
    missed: new Int32Array(count),
    missedGrades: new Float32Array(),
    relevantGrade: 1,
  };
  const texts = { turns: new Map(), questions: [] };
  return { dimension: D, questions, turns, positions, table, texts };
}

const model: TokenModel = { form: createProjection(3, D), dimension: D };
const drawNumbers = (seed: number, deviation: number) => {
  const random = createRandom(seed, 'numbers');
  return Float64Array.from({ length: countNumbers(model) }, () => deviation * random.drawNormal());
};

test('numbers that change nothing give the score zidf', async () => {
  const batches = new TokenBatches(plantQuestions(1, 3, 1));
  const batch = batches.make([0, 1, 2], null);
  const scores = await scoreTokens(model, drawTokenStart(model, 1), batch);
  const { starts, vectors } = batch.questions;
  for (let q = 0; q < 3; q++) {
    const [from, to] = [starts[q] as number, starts[q + 1] as number];
    const maxima = await computeTokenMaxima(batch.turns, vectors.subarray(from * D, to * D));
    const weights = batch.logIdf.subarray(from, to).map(Math.exp);
    // The first piece is in 1 or 2 of 20 turns, the second in all.
    expect(weights[1]).toBeCloseTo(Math.log(1 + 0.5 / 20.5), 5);
    const expected = averageTokens(standardiseMaxima(maxima, to - from), to - from, weights);
    for (const [turn, score] of expected.entries()) expect(scores[q * TURNS + turn]! / 3).toBeCloseTo(score, 2);
  }
});

test('the gradient is that of the loss', async () => {
  const batches = new TokenBatches(plantQuestions(1, 4, 2));
  const batch = batches.make([0, 1, 2, 3], { most: 12, seed: 1 });
  expect(batch.table.width).toBeLessThan(TURNS);
  const theta = drawNumbers(3, 0.3);
  const { gradient } = await computeTokenLoss(model, theta, batch);
  const measure = async (at: number, step: number) => {
    const moved = theta.slice();
    moved[at]! += step;
    return (await computeTokenLoss(model, moved, batch)).loss;
  };
  for (const at of [0, 17, 35, 36, 50, 71, 72, 80, 83, theta.length - 1]) {
    const slope = ((await measure(at, 0.002)) - (await measure(at, -0.002))) / 0.004;
    expect(Math.abs(gradient[at]! - slope)).toBeLessThan(0.02 * Math.max(0.5, Math.abs(slope)));
  }
});

test('a projection finds what tokens are about, on conversations that it has not seen, and controls do not', async () => {
  const batches = new TokenBatches(plantQuestions(6, 24, 4));
  const { table } = batches.questions;
  const rows = Int32Array.from(table.queryIds.keys());
  const [training, held] = [rows.subarray(0, 96), rows.subarray(96)];
  const judge = createTableMetric(
    {
      ...table,
      ...{ queryIds: table.queryIds.slice(96), clusters: table.clusters.slice(96) },
      mask: table.mask.subarray(96 * TURNS),
      grades: table.grades.subarray(96 * TURNS),
      missed: table.missed.subarray(96),
    },
    'mrr@10',
  );
  const measure = async (theta: Float64Array) => judge.mean(await scoreRows(model, theta, batches, held));
  const score = (theta: Float64Array, of: Int32Array) => scoreRows(model, theta, batches, of);
  const tunable: Tunable = { model, batches, start: drawTokenStart(model, 5), score };
  const given = { seed: 5, learningRate: 0.02, epochs: 12, batch: 16, turns: 30, questions: null };
  const seen: number[] = [];
  const tuned = await trainTokens(tunable, training, given, { onEpoch: async (_, epoch) => void seen.push(epoch) });
  expect(seen).toEqual(Array.from({ length: 13 }, (_, epoch) => epoch));
  const before = await measure(tunable.start);
  expect(await measure(tuned)).toBeGreaterThan(before + 0.1);
  expect(await trainTokens(tunable, training, given)).toEqual(tuned);
  const controls = drawControls(batches, training, 5);
  expect(Object.keys(controls)).toEqual(['shuffled labels', 'shuffled tokens']);
  for (const pairing of Object.values(controls))
    expect(await measure(await trainTokens(tunable, training, given, { pairing }))).toBeLessThan(before + 0.05);
});

test('messages of mail, of chat and to assistants teach before, by their texts and speakers alone', () => {
  const { before } = tokenTuning.settings.parse({});
  const sources = before!.sources.map(({ config, set, pairs }) => {
    const { dataset, signals, evaluation } = readTraining(loadConfig(config, set));
    return [dataset.name, pairs, signals.groups, signals.encoders, evaluation.split];
  });
  expect(sources).toEqual([
    ['spamassassin-threads', 'answered', ['author'], [], 'dev'],
    ['irc', 'adjacent', ['author'], [], 'dev'],
    ['oasst', 'answered', ['author'], [], 'dev'],
  ]);
});

test('without judgements the newest candidate of a question counts', () => {
  const planted = plantQuestions(2, 2, 10);
  const { positions } = planted;
  positions.fill(-1, TURNS + 4, 2 * TURNS);
  positions.fill(-1, 2 * TURNS, 3 * TURNS);
  const adjacent = new TokenBatches(planted).listAdjacent(Int32Array.of(0, 1, 2, 3));
  const listed = [...adjacent].map(([row, grades]) => [row, [...grades]]);
  expect(listed).toEqual([
    [0, [[TURNS - 1, 1]]],
    [1, [[3, 1]]],
    [2, []],
    [3, [[2 * TURNS - 1, 1]]],
  ]);
});

test('inner folds choose the epoch with the best mean, and training on all rows goes that far', async () => {
  const batches = new TokenBatches(plantQuestions(4, 10, 6));
  const rows = Int32Array.from(batches.questions.table.queryIds.keys());
  const score = (theta: Float64Array, of: Int32Array) => scoreRows(model, theta, batches, of);
  const tunable: Tunable = { model, batches, start: drawTokenStart(model, 7), score };
  const training = { seed: 7, learningRate: 0.02, epochs: 3, batch: 8, turns: 30, questions: null };
  const inner = { folds: 2, metric: 'mrr@10' };
  const tuned = await tuneTokens(tunable, rows, training, inner, ignoreProgress);
  expect(tuned.validation).toHaveLength(4);
  expect(tuned.validation[tuned.epochs]).toBe(Math.max(...tuned.validation));
  const judge = createTableMetric(batches.questions.table, 'mrr@10');
  expect(tuned.validation[0]).toBeCloseTo(judge.mean(await score(tunable.start, rows)), 10);
  expect(tuned.theta).toEqual(await trainTokens(tunable, rows, { ...training, epochs: tuned.epochs }));
  // Equal means leave the start.
  const none = await tuneTokens(tunable, rows, { ...training, learningRate: 1e-30 }, inner, ignoreProgress);
  expect([none.epochs, none.theta]).toEqual([0, tunable.start]);
});

test('an epoch may have fewer questions, and steps follow each other in time where they should', async () => {
  const batches = new TokenBatches(plantQuestions(2, 6, 8));
  const steps: (readonly number[])[] = [];
  const noting: Tunable = {
    model,
    batches: {
      questions: batches.questions,
      listGrades: batches.listGrades.bind(batches),
      make: (...given: Parameters<TokenBatches['make']>) => {
        steps.push(given[0]);
        return batches.make(...given);
      },
    } as TokenBatches,
    start: drawTokenStart(model, 9),
    score: () => Promise.reject(new Error('not asked for')),
  };
  const rows = Int32Array.from({ length: 12 }, (_, row) => row);
  const training = { seed: 9, learningRate: 0.01, epochs: 1, batch: 4, turns: 30, questions: 5 };
  await trainTokens(noting, rows, training);
  expect(steps.flat()).toHaveLength(5);
  for (const step of steps) expect(new Set(step.map((row) => Math.floor(row / 6))).size).toBe(1);
  steps.length = 0;
  await trainTokens(noting, rows, training, { isInOrder: true });
  expect(steps).toEqual([
    [0, 1, 2, 3],
    [4, 5, 6, 7],
    [8, 9, 10, 11],
  ]);
});
