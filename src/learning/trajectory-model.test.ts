import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { TEST_BACKENDS } from '../core/backends.harness.ts';
import { onBackendWithoutLeaks } from '../core/leaks.harness.ts';
import { scoped } from '../core/scope.ts';
import { candidateAttention, unifiedScores } from '../signals/attention-score.ts';
import { forwardAttention } from '../signals/forward-attention.ts';
import { finalScore, pairDistances, trajectoryScore } from '../signals/trajectory-score.ts';
import type { Dimensions } from '../trajectory/coordinate-names.ts';
import { type FeatureTable, signalColumn } from './feature-table.ts';
import { expectClose } from './gradient.oracle.ts';
import { registerGradients } from './gradients.ts';
import { TrainingObjective } from './objective.ts';
import { constrained, namedValues, parameterValues, unconstrained } from './parameters.ts';
import { scoreTable } from './table-scorer.ts';
import { train } from './training.ts';
import { trajectoryModel } from './trajectory-model.ts';
import { handmadeTrajectoryTable } from './trajectory-table.fixture.ts';

const [Q, C] = [5, 7];

/** The published formulas in float64, pair by pair and query by query. */
function scoresByDefinition(
  table: FeatureTable,
  named: Record<string, Record<string, number>>,
  seesItself: boolean,
): number[] {
  const columns = Object.fromEntries(table.signals.map((name) => [name, signalColumn(table, name)]));
  const { alpha, temperature, decay, attentionShare, fadingPerHour, neighbourWeight, sessionWeight } =
    Object.fromEntries(Object.entries(named).map(([name, group]) => [name, group[name]!])) as Record<string, number>;
  const logit = (cosine: number, distance: number) => (Math.exp(-decay! * distance) * (1 + cosine)) / 2 / temperature!;
  const scores = new Array<number>(table.mask.length).fill(0);
  for (let q = 0; q < table.queryIds.length; q++) {
    const pairs = Array.from({ length: table.width }, (_, c) => q * table.width + c).filter(
      (pair) => table.mask[pair] === 1,
    );
    const at = (name: string) => (pair: number) => columns[name]![pair]!;
    const distance = (pair: number) => {
      const isCold = columns['cold-start']![pair] === 1;
      const squares = Object.entries(named.coordinates!)
        .filter(([name]) => !isCold || name === 'temporal')
        .map(([name, weight]) => weight * columns[`coordinate:${name}`]![pair]! ** 2);
      return Math.sqrt(squares.reduce((sum, square) => sum + square, 0));
    };
    const scaled = (numbers: number[]) => {
      const most = Math.max(...numbers);
      return numbers.map((number) => (most > 0 ? number / most : 0));
    };
    const softmax = (logits: number[]) => {
      const sum = logits.reduce((total, value) => total + Math.exp(value), 0);
      return logits.map((value) => Math.exp(value) / sum);
    };
    const relevance = pairs.map((pair) => {
      const around = neighbourWeight! * at('neighbour')(pair) + sessionWeight! * at('session')(pair);
      return (at('relevance')(pair) + around) * Math.exp(-fadingPerHour! * at('age-hours')(pair));
    });
    const chain = scaled(relevance).map((r, i) => alpha! * r + (1 - alpha!) * Math.exp(-distance(pairs[i]!)));
    const rcp = softmax(pairs.map((pair) => logit(at('cosine')(pair), at('ring-distance')(pair))));
    const tpo = softmax(pairs.map((pair) => logit(at('cosine')(pair), distance(pair))));
    const ircp = pairs.map((pair) => {
      const ahead = at('ahead-count')(pair);
      const own = Math.exp(logit(at('cosine')(pair), at('ring-distance')(pair)));
      const round = at('ring-distance')(pair) + ahead + 1;
      let sum = own + Math.max(0, ahead - 8) + (seesItself ? Math.exp(1 / temperature!) : 0);
      for (let k = 1; k <= Math.min(8, ahead); k++)
        sum += Math.exp(logit(at(`ahead:${k}`)(pair), Math.min(k, round - k)));
      return own / sum;
    });
    const { rcp: a, ircp: b, tpo: c } = named.mix as Record<string, number>;
    const attention = scaled(pairs.map((_, i) => a! * rcp[i]! + b! * ircp[i]! + c! * tpo[i]!));
    for (const [i, share] of scaled(chain).entries())
      scores[pairs[i]!] = (1 - attentionShare!) * share + attentionShare! * attention[i]!;
  }
  return scores;
}

const judged = (table: FeatureTable, scores: ArrayLike<number>) =>
  [...table.mask.keys()].filter((pair) => table.mask[pair] === 1).map((pair) => scores[pair]!);

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  onBackendWithoutLeaks(backend);
  beforeAll(registerGradients);

  test.each([
    [3, 'include', 'initial'],
    [5, 'include', 'initial'],
    [5, 'exclude', 'uniform'],
    [7, 'exclude', 'initial'],
    [7, 'include', 'uniform'],
  ] as const)(
    '%d coordinates, a turn that looks forward %ss itself: the %s values score as the formulas do',
    async (dimensions, self, which) => {
      const table = handmadeTrajectoryTable(Q, C, dimensions as Dimensions, 17);
      const model = trajectoryModel({ dimensions: dimensions as Dimensions, self });
      const values = parameterValues(model, (spec) => spec[which]);
      const expected = scoresByDefinition(table, namedValues(model, values), self === 'include');
      expectClose(judged(table, await scoreTable(model, values, table)), judged(table, expected), 1e-5, 1e-4);
    },
  );

  test('every parameter has the slope of the formulas', async () => {
    const table = handmadeTrajectoryTable(Q, C, 5, 23);
    const model = trajectoryModel({ dimensions: 5, self: 'include' });
    const named = parameterValues(model, ({ initial, constraint, name }) =>
      initial.map((value) => (constraint === 'positive' && value === 0 ? 0.4 : name === 'temperature' ? 0.3 : value)),
    );
    const theta = unconstrained(model, named);
    const objective = new TrainingObjective(model, table, { name: 'listwise', temperature: 1 });
    const { gradient } = await objective.at(theta);
    objective.dispose();
    const loss = (free: Float64Array) =>
      crossEntropy(table, scoresByDefinition(table, namedValues(model, constrained(model, free)), true));
    const slopes = Array.from(theta, (x, i) => (loss(theta.with(i, x + 1e-5)) - loss(theta.with(i, x - 1e-5))) / 2e-5);
    expect(slopes.every((slope) => Math.abs(slope) > 1e-6)).toBe(true);
    expectClose(gradient, slopes, 1e-5, 2e-3);
  });

  test('at the hand-tuned values without surroundings and fading it is the chain of the rerankers', async () => {
    const table = { ...handmadeTrajectoryTable(Q, C, 5, 29), mask: new Uint8Array(Q * C).fill(1) };
    const model = trajectoryModel({ dimensions: 5, self: 'include' });
    const values = parameterValues(model, ({ initial, name }) => (name === 'fadingPerHour' ? [0] : initial));
    const reranked = scoped('rerankers', () => rerank(table));
    expectClose(await scoreTable(model, values, table), await reranked.data());
    reranked.dispose();
  });
});

function crossEntropy(table: FeatureTable, scores: number[]): number {
  let total = 0;
  for (let q = 0; q < Q; q++) {
    const pairs = Array.from({ length: C }, (_, c) => q * C + c).filter((pair) => table.mask[pair] === 1);
    const sum = pairs.reduce((all, pair) => all + Math.exp(scores[pair]!), 0);
    const grades = pairs.reduce((all, pair) => all + table.grades[pair]!, 0);
    for (const pair of pairs) total -= (table.grades[pair]! / grades) * Math.log(Math.exp(scores[pair]!) / sum);
  }
  return total / Q;
}

/** With the project's own steps, as `retrieval` composes them; a turn's log mass by its definition. */
function rerank(table: FeatureTable): tf.Tensor2D {
  const options = { combine: 'multiplicative', decay: 0.5, temperature: 0.1 } as const;
  const column = (name: string) => tf.tensor2d(signalColumn(table, name), [Q, C]);
  const mask = tf.ones([Q, C], 'bool') as tf.Tensor2D;
  const names = ['depth', 'siblingOrder', 'homogeneity', 'temporal', 'complexity'];
  const differences = tf.stack(
    names.map((name) => column(`coordinate:${name}`)),
    2,
  ) as tf.Tensor3D;
  const pairs = {
    candidates: differences,
    queries: tf.zerosLike(differences),
    coldStart: tf.cast(column('cold-start'), 'bool') as tf.Tensor2D,
    dimensions: 5 as const,
  };
  const distances = pairDistances(pairs, tf.tensor1d([1, 0.5, 1.2, 0.8, 0.3]));
  const masses = Float32Array.from(signalColumn(table, 'ahead-count'), (ahead, pair) => {
    const round = signalColumn(table, 'ring-distance')[pair]! + ahead + 1;
    let sum = Math.exp(10) + Math.max(0, ahead - 8);
    for (let k = 1; k <= Math.min(8, ahead); k++)
      sum += Math.exp(
        (10 * Math.exp(-0.5 * Math.min(k, round - k)) * (1 + signalColumn(table, `ahead:${k}`)[pair]!)) / 2,
      );
    return Math.log(sum);
  });
  const rowMaximum = (x: tf.Tensor2D): tf.Tensor2D => tf.div(x, tf.max(x, 1, true));
  const chain = finalScore(rowMaximum(column('relevance')), trajectoryScore(distances, 1), 0.3);
  const attention = unifiedScores(
    {
      rcp: candidateAttention(column('cosine'), column('ring-distance'), mask, options),
      ircp: forwardAttention(column('cosine'), column('ring-distance'), tf.tensor2d(masses, [Q, C]), mask, options),
      tpo: candidateAttention(column('cosine'), distances, mask, options),
    },
    { rcp: 0.4, ircp: 0.4, tpo: 0.2 },
  );
  return finalScore(rowMaximum(chain), rowMaximum(attention), 0.2);
}

describe('on wasm', () => {
  onBackendWithoutLeaks('wasm');

  test('training finds what a table was judged by', async () => {
    const drawn = handmadeTrajectoryTable(61, 13, 3, 31);
    const model = trajectoryModel({ dimensions: 3, self: 'include' });
    const truth = parameterValues(model, ({ name, initial }) =>
      name === 'alpha' ? [0.1] : name === 'attentionShare' ? [0.05] : initial,
    );
    const scores = scoresByDefinition(drawn, namedValues(model, truth), true);
    const grades = new Float32Array(drawn.grades.length);
    for (let q = 0; q < 61; q++) {
      const best = Array.from({ length: 13 }, (_, c) => q * 13 + c).sort((a, b) => scores[b]! - scores[a]!)[0]!;
      grades[best] = 1;
    }
    const table = { ...drawn, grades };
    const options = { learningRate: 0.1, l2: 0, epochs: 60, patience: 60, batchSize: null, seed: 1, startNoise: 0 };
    const { curve, bestEpoch, values } = await train(model, table, table, {
      ...options,
      loss: { name: 'infonce', temperature: 0.1 },
    });
    expect(curve[bestEpoch]!.validation! - curve[0]!.validation!).toBeGreaterThan(0.05);
    expect(namedValues(model, values).alpha!.alpha).toBeLessThan(0.5);
  });
});
