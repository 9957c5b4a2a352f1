import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { registerGradients } from '../../core/tensors/gradients.ts';
import { useBackendWithoutLeaks } from '../../core/tensors/leaks.harness.ts';
import { scoped } from '../../core/tensors/scope.ts';
import { attentionLogits, softmaxRows } from '../../ops/attention/options.ts';
import type { CoordinateName, Dimensions } from '../../ops/trajectory/coordinate-names.ts';
import { trajectoryDistance } from '../../ops/trajectory/trajectory-distance.ts';
import { forwardAttention, mixUnifiedScores } from '../signals/attention-columns.ts';
import { toSignalPart } from '../signals/plan.ts';
import { keepCompared } from '../signals/trajectory-columns.ts';
import { blendTrajectory, trajectoryScore } from '../signals/trajectory-score.ts';
import { copySignalColumn, type FeatureTable } from './feature-table.ts';
import { expectClose, expectDifferentiable } from './gradient.oracle.ts';
import { decomposeTable, scoreTable } from './model.ts';
import { TrainingObjective } from './objective.ts';
import { chooseParameterValues, constrainValues, freeValues, nameParameterValues } from './parameters.ts';
import { train } from './training.ts';
import {
  computeCandidateShares,
  computePower,
  computeQueryShares,
  createTrajectoryModel,
  divideByRowMaximum,
} from './trajectory-model.ts';
import { drawTrajectoryTable } from './trajectory-table.fixture.ts';

const [Q, C] = [5, 7];

/** The published formulas in float64, pair by pair and query by query. */
function computeDefinedScores(
  table: FeatureTable,
  named: Record<string, Record<string, number>>,
  seesItself: boolean,
): number[] {
  const columns = Object.fromEntries(table.signals.map((name) => [name, copySignalColumn(table, name)]));
  const { alpha, temperature, decay, attentionShare, fadingPerHour, neighbourWeight, sessionWeight } =
    Object.fromEntries(Object.entries(named).map(([name, group]) => [name, group[name]!])) as Record<string, number>;
  const computePairLogit = (cosine: number, distance: number) =>
    (Math.exp(-decay! * distance) * (1 + cosine)) / 2 / temperature!;
  const scores = new Array<number>(table.mask.length).fill(0);
  for (let q = 0; q < table.queryIds.length; q++) {
    const pairs = Array.from({ length: table.width }, (_, c) => q * table.width + c).filter(
      (pair) => table.mask[pair] === 1,
    );
    const createPairReader = (name: string) => (pair: number) => columns[name]![pair]!;
    const computePairDistance = (pair: number) => {
      const isCold = columns['cold-start']![pair] === 1;
      const squares = Object.entries(named.coordinates!)
        .filter(([name]) => !isCold || name === 'temporal')
        .map(([name, weight]) => weight * columns[`coordinate.${toSignalPart(name)}`]![pair]! ** 2);
      return Math.sqrt(squares.reduce((sum, square) => sum + square, 0));
    };
    const scaleByMaximum = (numbers: number[]) => {
      const most = Math.max(...numbers);
      return numbers.map((number) => (most > 0 ? number / most : 0));
    };
    const softmax = (logits: number[]) => {
      const sum = logits.reduce((total, value) => total + Math.exp(value), 0);
      return logits.map((value) => Math.exp(value) / sum);
    };
    const relevance = pairs.map((pair) => {
      const around =
        neighbourWeight! * createPairReader('relevance@neighbour')(pair) +
        sessionWeight! * createPairReader('relevance@session')(pair);
      return (
        (createPairReader('relevance')(pair) + around) * Math.exp(-fadingPerHour! * createPairReader('age.hours')(pair))
      );
    });
    const chain = scaleByMaximum(relevance).map(
      (r, i) => alpha! * r + (1 - alpha!) * Math.exp(-computePairDistance(pairs[i]!)),
    );
    const rcp = softmax(
      pairs.map((pair) => computePairLogit(createPairReader('cosine')(pair), createPairReader('ring.distance')(pair))),
    );
    const tpo = softmax(
      pairs.map((pair) => computePairLogit(createPairReader('cosine')(pair), computePairDistance(pair))),
    );
    const ircp = pairs.map((pair) => {
      const ahead = createPairReader('ahead.count')(pair);
      const own = Math.exp(computePairLogit(createPairReader('cosine')(pair), createPairReader('ring.distance')(pair)));
      const round = createPairReader('ring.distance')(pair) + ahead + 1;
      let sum = own + Math.max(0, ahead - 8) + (seesItself ? Math.exp(1 / temperature!) : 0);
      for (let k = 1; k <= Math.min(8, ahead); k++)
        sum += Math.exp(computePairLogit(createPairReader(`ahead.${k}`)(pair), Math.min(k, round - k)));
      return own / sum;
    });
    const { rcp: a, ircp: b, tpo: c } = named.mix as Record<string, number>;
    const attention = scaleByMaximum(pairs.map((_, i) => a! * rcp[i]! + b! * ircp[i]! + c! * tpo[i]!));
    for (const [i, share] of scaleByMaximum(chain).entries())
      scores[pairs[i]!] = (1 - attentionShare!) * share + attentionShare! * attention[i]!;
  }
  return scores;
}

const listJudged = (table: FeatureTable, scores: ArrayLike<number>) =>
  [...table.mask.keys()].filter((pair) => table.mask[pair] === 1).map((pair) => scores[pair]!);

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  useBackendWithoutLeaks(backend);
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
      const table = drawTrajectoryTable(Q, C, dimensions as Dimensions, 17);
      const model = createTrajectoryModel({ dimensions: dimensions as Dimensions, self });
      const values = chooseParameterValues(model, (spec) => spec[which]);
      const expected = computeDefinedScores(table, nameParameterValues(model, values), self === 'include');
      expectClose(listJudged(table, await scoreTable(model, values, table)), listJudged(table, expected), 1e-5, 1e-4);
    },
  );

  test.each([
    [3, 'initial'],
    [5, 'uniform'],
  ] as const)('%d coordinates: the parts of the %s values add up to the scores', async (dimensions, which) => {
    const table = drawTrajectoryTable(Q, C, dimensions, 31);
    const model = createTrajectoryModel({ dimensions, self: 'include' });
    const values = chooseParameterValues(model, (spec) => spec[which]);
    const parts = await decomposeTable(model, values, table);
    const scores = listJudged(table, await scoreTable(model, values, table));
    const named = new Map([...parts].map(([name, part]) => [name, listJudged(table, part)]));
    const sums = scores.map((_, i) => [...named.values()].reduce((sum, part) => sum + part[i]!, 0));
    expectClose(sums, scores, 1e-6, 1e-5);
    expect([...parts.keys()]).toEqual([
      'relevance',
      'neighbours',
      'session',
      'fading',
      'trajectory',
      'rcp',
      'ircp',
      'tpo',
    ]);
    for (const [name, part] of named) {
      // surroundings weigh nothing, or nothing fades: the hand-tuned and the uniform values
      const isAbsent = which === 'initial' ? ['neighbours', 'session'].includes(name) : name === 'fading';
      expect(
        part.some((value) => value !== 0),
        name,
      ).toBe(!isAbsent);
      expect(
        part.every((value) => (name === 'fading' ? value <= 0 : value >= 0)),
        name,
      ).toBe(true);
    }
  });

  test('the parts are those of the formulas: without a term the others keep their size before the divisions', async () => {
    const table = drawTrajectoryTable(Q, C, 5, 37);
    const model = createTrajectoryModel({ dimensions: 5, self: 'include' });
    const choose = (alpha: number, attentionShare: number) =>
      chooseParameterValues(model, ({ name, initial }) =>
        name === 'alpha' ? [alpha] : name === 'attentionShare' ? [attentionShare] : initial,
      );
    const read = async (name: string, alpha: number, share: number) =>
      listJudged(table, (await decomposeTable(model, choose(alpha, share), table)).get(name) ?? new Float32Array(0));
    // attention alone, trajectory alone: the whole score is the one part
    const attention = await scoreTable(model, choose(0.7, 1), table);
    const three = await Promise.all(['rcp', 'ircp', 'tpo'].map((name) => read(name, 0.7, 1)));
    expectClose(
      listJudged(table, attention).map((_, i) => three.reduce((sum, part) => sum + part[i]!, 0)),
      listJudged(table, attention),
    );
    expectClose(await read('trajectory', 0, 0), listJudged(table, await scoreTable(model, choose(0, 0), table)));
    expect((await read('relevance', 0, 0)).every((value) => value === 0)).toBe(true);
    // half the share of attention halves its parts
    const [whole, half] = [await read('tpo', 0.7, 0.4), await read('tpo', 0.7, 0.2)];
    expectClose(
      half,
      whole.map((value) => value / 2),
    );
  });

  test('every parameter has the slope of the formulas', async () => {
    const table = drawTrajectoryTable(Q, C, 5, 23);
    const model = createTrajectoryModel({ dimensions: 5, self: 'include' });
    const named = chooseParameterValues(model, ({ initial, constraint, name }) =>
      initial.map((value) => (constraint === 'positive' && value === 0 ? 0.4 : name === 'temperature' ? 0.3 : value)),
    );
    const theta = freeValues(model, named);
    const objective = new TrainingObjective(model, table, { name: 'listwise', temperature: 1 });
    const { gradient } = await objective.computeLossAt(theta);
    objective.dispose();
    const computeFreeLoss = (free: Float64Array) =>
      computeCrossEntropy(
        table,
        computeDefinedScores(table, nameParameterValues(model, constrainValues(model, free)), true),
      );
    const slopes = Array.from(
      theta,
      (x, i) => (computeFreeLoss(theta.with(i, x + 1e-5)) - computeFreeLoss(theta.with(i, x - 1e-5))) / 2e-5,
    );
    expect(slopes.every((slope) => Math.abs(slope) > 1e-6)).toBe(true);
    expectClose(gradient, slopes, 1e-5, 2e-3);
  });

  test('at the hand-tuned values without surroundings and fading it is the chain of the rerankers', async () => {
    const table = { ...drawTrajectoryTable(Q, C, 5, 29), mask: new Uint8Array(Q * C).fill(1) };
    const model = createTrajectoryModel({ dimensions: 5, self: 'include' });
    const values = chooseParameterValues(model, ({ initial, name }) => (name === 'fadingPerHour' ? [0] : initial));
    const reranked = scoped('rerankers', () => rerankWithSteps(table));
    expectClose(await scoreTable(model, values, table), await reranked.data());
    reranked.dispose();
  });
});

function computeCrossEntropy(table: FeatureTable, scores: number[]): number {
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
function rerankWithSteps(table: FeatureTable): tf.Tensor2D {
  const options = { combine: 'multiplicative', decay: 0.5, temperature: 0.1 } as const;
  const uploadPlainColumn = (name: string) => tf.tensor2d(copySignalColumn(table, name), [Q, C]);
  const names: readonly CoordinateName[] = ['depth', 'siblingOrder', 'homogeneity', 'temporal', 'complexity'];
  const coldStart = Uint8Array.from(copySignalColumn(table, 'cold-start'));
  const differences = tf.stack(
    names.map((name) => {
      const column = copySignalColumn(table, `coordinate.${toSignalPart(name)}`);
      return tf.tensor2d(keepCompared(column, new Float32Array(Q * C), coldStart, [name]), [Q, C]);
    }),
    2,
  ) as tf.Tensor3D;
  const distances = trajectoryDistance(differences, tf.zerosLike(differences), tf.tensor1d([1, 0.5, 1.2, 0.8, 0.3]));
  const masses = Float32Array.from(copySignalColumn(table, 'ahead.count'), (ahead, pair) => {
    const round = copySignalColumn(table, 'ring.distance')[pair]! + ahead + 1;
    let sum = Math.exp(10) + Math.max(0, ahead - 8);
    for (let k = 1; k <= Math.min(8, ahead); k++)
      sum += Math.exp(
        (10 * Math.exp(-0.5 * Math.min(k, round - k)) * (1 + copySignalColumn(table, `ahead.${k}`)[pair]!)) / 2,
      );
    return Math.log(sum);
  });
  const divideByMaximum = (x: tf.Tensor2D): tf.Tensor2D => tf.div(x, tf.max(x, 1, true));
  const chain = blendTrajectory(divideByMaximum(uploadPlainColumn('relevance')), trajectoryScore(distances, 1), 0.3);
  const logits = attentionLogits(uploadPlainColumn('cosine'), uploadPlainColumn('ring.distance'), options);
  const attention = mixUnifiedScores(
    {
      rcp: softmaxRows(logits),
      ircp: forwardAttention(logits, tf.tensor2d(masses, [Q, C])),
      tpo: softmaxRows(attentionLogits(uploadPlainColumn('cosine'), distances, options)),
    },
    { rcp: 0.4, ircp: 0.4, tpo: 0.2 },
  );
  return blendTrajectory(divideByMaximum(chain), divideByMaximum(attention), 0.2);
}

describe('on wasm', () => {
  useBackendWithoutLeaks('wasm');

  test('training finds what a table was judged by', async () => {
    const drawn = drawTrajectoryTable(61, 13, 3, 31);
    const model = createTrajectoryModel({ dimensions: 3, self: 'include' });
    const truth = chooseParameterValues(model, ({ name, initial }) =>
      name === 'alpha' ? [0.1] : name === 'attentionShare' ? [0.05] : initial,
    );
    const scores = computeDefinedScores(drawn, nameParameterValues(model, truth), true);
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
    expect(nameParameterValues(model, values).alpha!.alpha).toBeLessThan(0.5);
  });
});

const MATRIX = [0.3, 1.1, 0.7, 1.9, 0.4, 0.2];
const LIKENESS = [0.9, 0.1, 0.5, 0.7, 0.3, 0.8];
const MASK = [1, 1, 0, 1, 1, 1];
const chunkRows = (x: number[], width: number) =>
  Array.from({ length: x.length / width }, (_, i) => x.slice(i * width, (i + 1) * width));
const softmax = (row: number[], mask = row.map(() => 1)) => {
  const sum = row.reduce((total, value, i) => total + mask[i]! * Math.exp(value), 0);
  return row.map((value, i) => (mask[i]! * Math.exp(value)) / sum);
};

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  useBackendWithoutLeaks(backend);

  test('powers of what is not positive', async () => {
    const negative = MATRIX.map((value) => -3 * value);
    await expectDifferentiable(
      (x) => scoped('op', () => computePower(x)),
      (x) => x.map(Math.exp),
      negative,
      [2, 3],
    );
  });

  test('rows divided by their maximum', async () => {
    const computeStepOnHost = (x: number[]) =>
      chunkRows(x, 3).flatMap((row) => row.map((value) => value / Math.max(...row)));
    await expectDifferentiable(
      (x) => scoped('op', () => divideByRowMaximum(x as tf.Tensor2D)),
      computeStepOnHost,
      MATRIX,
      [2, 3],
    );
  });

  test('a row without anything positive stays 0 and has no slope; equal maxima share theirs', async () => {
    const x = tf.tensor2d([0, 0, 0, 2, 2, 1], [2, 3]);
    const dy = tf.tensor2d([1, 1, 1, 0, 0, 1], [2, 3]);
    const value = scoped('op', () => divideByRowMaximum(x));
    const slope = tf.grad((given) => divideByRowMaximum(given as tf.Tensor2D))(x, dy);
    expect([...(await value.data())]).toEqual([0, 0, 0, 1, 1, 0.5]);
    expect([...(await slope.data())]).toEqual([0, 0, 0, -0.125, -0.125, 0.5]);
    tf.dispose([x, dy, value, slope]);
  });

  test('a row that has faded to subnormal numbers becomes 0', async () => {
    const x = tf.tensor2d([2 ** -140, 0, 2, 1], [2, 2]);
    const value = scoped('op', () => divideByRowMaximum(x));
    expect([...(await value.data())]).toEqual([0, 0, 1, 0.5]);
    tf.dispose([x, value]);
  });

  const computeDecayedLogits = (likeness: number[], distance: number[], decay: number, temperature: number) =>
    likeness.map((value, i) => (value * Math.exp(-decay * distance[i]!)) / temperature);

  test('shares among what is admissible, by distance, decay and temperature', async () => {
    const computeStepOnHost = (distance: number[], decay = 0.7, temperature = 0.3) =>
      chunkRows(computeDecayedLogits(LIKENESS, distance, decay, temperature), 3).flatMap((row, i) =>
        softmax(row, MASK.slice(3 * i, 3 * i + 3)),
      );
    const likeness = tf.tensor2d(LIKENESS, [2, 3]);
    const mask = tf.tensor2d(MASK, [2, 3]);
    const uploadNumber = (value: number) => tf.tensor1d([value]);
    const computeShareOp = (distance: tf.Tensor, decay: tf.Tensor, temperature: tf.Tensor) =>
      computeCandidateShares(
        { likeness, distance: distance as tf.Tensor2D },
        mask,
        decay as tf.Tensor1D,
        temperature as tf.Tensor1D,
      );
    const uploadDistances = () => tf.tensor2d(MATRIX, [2, 3]);
    const cases = [
      [
        (x: tf.Tensor) => computeShareOp(x, uploadNumber(0.7), uploadNumber(0.3)),
        (x: number[]) => computeStepOnHost(x),
        MATRIX,
        [2, 3],
      ],
      [
        (x: tf.Tensor) => computeShareOp(uploadDistances(), x, uploadNumber(0.3)),
        ([x]: number[]) => computeStepOnHost(MATRIX, x, 0.3),
        [0.7],
        [1],
      ],
      [
        (x: tf.Tensor) => computeShareOp(uploadDistances(), uploadNumber(0.7), x),
        ([x]: number[]) => computeStepOnHost(MATRIX, 0.7, x),
        [0.3],
        [1],
      ],
    ] as const;
    for (const [f, expected, x, shape] of cases)
      await expectDifferentiable((given) => scoped('op', () => f(given)), expected, x, [...shape]);
    tf.dispose([likeness, mask]);
  });

  test('where nothing is admissible there are no shares', async () => {
    const none = scoped('op', () => {
      const parts = { likeness: tf.ones<tf.Rank.R2>([2, 3]), distance: tf.ones<tf.Rank.R2>([2, 3]) };
      return computeCandidateShares(parts, tf.zeros([2, 3]), tf.tensor1d([1]), tf.tensor1d([0.1]));
    });
    expect([...(await none.data())]).toEqual([0, 0, 0, 0, 0, 0]);
    none.dispose();
  });

  test('the share of the query, the first key, by decay and temperature', async () => {
    const bias = [0, -1e30, 0.4, 0, 1.1, -0.3];
    const computeStepOnHost = (decay: number, temperature: number) =>
      chunkRows(
        computeDecayedLogits(LIKENESS, MATRIX, decay, temperature).map((value, i) => value + bias[i]!),
        3,
      ).map((row) => softmax(row)[0]!);
    const [likeness, distance, biases] = [LIKENESS, MATRIX, bias].map((numbers) => tf.tensor3d(numbers, [1, 2, 3])) as [
      tf.Tensor3D,
      tf.Tensor3D,
      tf.Tensor3D,
    ];
    const keys = { likeness, distance, bias: biases };
    const shareByDecay = (x: tf.Tensor) =>
      scoped('op', () => computeQueryShares(keys, x as tf.Tensor1D, tf.tensor1d([0.3])));
    await expectDifferentiable(shareByDecay, ([x]) => computeStepOnHost(x!, 0.3), [0.7], [1]);
    const shareByTemperature = (x: tf.Tensor) =>
      scoped('op', () => computeQueryShares(keys, tf.tensor1d([0.7]), x as tf.Tensor1D));
    await expectDifferentiable(shareByTemperature, ([x]) => computeStepOnHost(0.7, x!), [0.3], [1]);
    tf.dispose([likeness, distance, biases]);
  });
});
