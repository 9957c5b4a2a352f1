import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { registerGradients } from '../../core/tensors/gradients.ts';
import { useBackendWithoutLeaks } from '../../core/tensors/leaks.harness.ts';
import { readBack } from '../../core/tensors/scope.ts';
import { drawBert, SMALL_SIZES } from './bert.fixture.ts';
import { type Bert, type BertArrays, disposeBert, runBert, runBertLayers, uploadBert } from './bert.ts';

const arrays = drawBert(5);
const FIRST = [3, 17, 0, 22, 17];
const SECOND = [9, 1, 1, 8, 20];

/** erf by its series, which converges for every x that occurs here. */
function erf(x: number): number {
  let term = x;
  let sum = x;
  for (let n = 1; n < 60; n++) {
    term *= (-x * x) / n;
    sum += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}

/** The model one number after the other, in float64. @returns [T][D] */
function computeByHand(of: BertArrays, ids: readonly number[]): number[][] {
  const { hidden_size: D, num_attention_heads: H, num_hidden_layers: L, layer_norm_eps: epsilon } = SMALL_SIZES;
  const at = (name: string, ...place: number[]): number => {
    const { shape, data } = of[name] as BertArrays[string];
    return data[place.reduce((sum, index, axis) => sum * (shape[axis] as number) + index, 0)] as number;
  };
  const linear = (x: readonly number[], name: string, outputs: number) =>
    Array.from({ length: outputs }, (_, o) =>
      x.reduce((sum, value, i) => sum + value * at(`${name}.weight`, o, i), at(`${name}.bias`, o)),
    );
  const norm = (x: readonly number[], name: string) => {
    const mean = x.reduce((sum, value) => sum + value, 0) / D;
    const variance = x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / D;
    return x.map(
      (value, d) => ((value - mean) / Math.sqrt(variance + epsilon)) * at(`${name}.weight`, d) + at(`${name}.bias`, d),
    );
  };
  let rows = ids.map((id, t) => {
    const sums = Array.from(
      { length: D },
      (_, d) =>
        at('embeddings.word_embeddings.weight', id, d) +
        at('embeddings.position_embeddings.weight', t, d) +
        at('embeddings.token_type_embeddings.weight', 0, d),
    );
    return norm(sums, 'embeddings.LayerNorm');
  });
  for (let l = 0; l < L; l++) {
    const layer = `encoder.layer.${l}`;
    const [query, key, value] = ['query', 'key', 'value'].map((part) =>
      rows.map((row) => linear(row, `${layer}.attention.self.${part}`, D)),
    ) as [number[][], number[][], number[][]];
    const size = D / H;
    const mixed = rows.map((_, t) =>
      Array.from({ length: D }, (_, d) => {
        const head = Math.floor(d / size) * size;
        const logits = key.map((k) => {
          let product = 0;
          for (let i = head; i < head + size; i++) product += (query[t]?.[i] as number) * (k[i] as number);
          return product / Math.sqrt(size);
        });
        const powers = logits.map((logit) => Math.exp(logit - Math.max(...logits)));
        const total = powers.reduce((sum, power) => sum + power, 0);
        return value.reduce((sum, v, other) => sum + ((powers[other] as number) / total) * (v[d] as number), 0);
      }),
    );
    rows = rows.map((row, t) => {
      const attended = linear(mixed[t] as number[], `${layer}.attention.output.dense`, D);
      const first = norm(
        attended.map((x, d) => x + (row[d] as number)),
        `${layer}.attention.output.LayerNorm`,
      );
      const inner = linear(first, `${layer}.intermediate.dense`, SMALL_SIZES.intermediate_size);
      const second = linear(
        inner.map((x) => (x * (1 + erf(x / Math.SQRT2))) / 2),
        `${layer}.output.dense`,
        D,
      );
      return norm(
        second.map((x, d) => x + (first[d] as number)),
        `${layer}.output.LayerNorm`,
      );
    });
  }
  return rows;
}

async function run(ids: readonly number[], length: number, of: BertArrays = arrays): Promise<Float32Array> {
  const bert = uploadBert(of, SMALL_SIZES);
  try {
    return await readBack('bert', () => runBert(bert, Int32Array.from(ids), length));
  } finally {
    disposeBert(bert);
  }
}

const expectNear = (got: ArrayLike<number>, expected: readonly number[], tolerance: number) => {
  expect(got).toHaveLength(expected.length);
  for (const [i, value] of expected.entries()) expect(Math.abs((got[i] as number) - value)).toBeLessThan(tolerance);
};

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  useBackendWithoutLeaks(backend);

  test('the vectors are those of the formulas, for each text of a batch', async () => {
    const expected = [FIRST, SECOND].flatMap((ids) => computeByHand(arrays, ids).flat());
    expectNear(await run([...FIRST, ...SECOND], 5), expected, 1e-5);
    expectNear(await run(SECOND, 5), computeByHand(arrays, SECOND).flat(), 1e-5);
    expectNear(await run([4], 1), computeByHand(arrays, [4]).flat(), 1e-5);
  });

  test('names may begin with bert.', async () => {
    const segments = 'embeddings.token_type_embeddings.weight';
    const first = { shape: [1, 12], data: Array.from(arrays[segments]?.data ?? []).slice(0, 12) };
    for (const of of [arrays, { ...arrays, [segments]: first }]) {
      const named = Object.fromEntries(Object.entries(of).map(([name, array]) => [`bert.${name}`, array]));
      expect(await run(FIRST, 5, named)).toEqual(await run(FIRST, 5));
    }
  });

  test('the last layers go on where the others stop', async () => {
    const bert = uploadBert(arrays, SMALL_SIZES);
    const first = { ...bert, layers: bert.layers.slice(0, 1) };
    const ids = Int32Array.from([...FIRST, ...SECOND]);
    const rows = await readBack('last', () =>
      runBertLayers(SMALL_SIZES, bert.layers.slice(1), runBert(first, ids, 5), 5),
    );
    expect(rows).toEqual(await readBack('bert', () => runBert(bert, ids, 5)));
    disposeBert(bert);
  });

  test('an adapter adds its product to the weights', async () => {
    const bert = uploadBert(arrays, SMALL_SIZES);
    const { hidden_size: D, intermediate_size: inner } = SMALL_SIZES;
    const down = tf.tensor2d(
      Array.from({ length: D * 2 }, (_, i) => Math.sin(i)),
      [D, 2],
    );
    const up = tf.tensor2d(
      Array.from({ length: 2 * inner }, (_, i) => Math.cos(i) / 3),
      [2, inner],
    );
    const withInner = (change: (inner: Bert['layers'][number]['inner']) => Bert['layers'][number]['inner']): Bert => ({
      ...bert,
      layers: bert.layers.map((layer) => ({ ...layer, inner: change(layer.inner) })),
    });
    const ids = Int32Array.from(FIRST);
    const adapted = withInner((own) => ({ ...own, adapter: { down, up } }));
    const added = await readBack('added', () =>
      runBert(
        withInner((own) => ({ ...own, weight: tf.add(own.weight, tf.matMul(down, up)) })),
        ids,
        5,
      ),
    );
    const rows = await readBack('adapted', () => runBert(adapted, ids, 5));
    expectNear(rows, [...added], 1e-5);
    expect(rows).not.toEqual(await readBack('bert', () => runBert(bert, ids, 5)));
    tf.dispose([down, up]);
    disposeBert(bert);
  });

  test('gradients by weights are those of finite differences', async () => {
    registerGradients();
    const bert = uploadBert(arrays, SMALL_SIZES);
    const ids = Int32Array.from([...FIRST, ...SECOND]);
    const { hidden_size: D } = SMALL_SIZES;
    const target = tf.tensor2d(
      Float32Array.from({ length: 10 * D }, (_, i) => Math.cos(i)),
      [10, D],
    );
    const withWeight = (part: 'attention' | 'inner', weight: tf.Tensor2D): Bert => ({
      ...bert,
      layers: bert.layers.map((layer, l) => (l === 1 ? { ...layer, [part]: { ...layer[part], weight } } : layer)),
    });
    for (const part of ['attention', 'inner'] as const) {
      const own = bert.layers[1]?.[part].weight as tf.Tensor2D;
      const sumWeighed = (weight: tf.Tensor) =>
        tf.sum(tf.mul(runBert(withWeight(part, weight as tf.Tensor2D), ids, 5), target)) as tf.Scalar;
      const gradient = await readBack('gradient', () => tf.grad(sumWeighed)(own));
      const values = await own.data<'float32'>();
      for (const place of [0, 7, 100, values.length - 1]) {
        const measure = async (step: number) => {
          const moved = values.map((value, i) => (i === place ? value + step : value));
          const [sum] = await readBack('sum', () => sumWeighed(tf.tensor2d(moved, own.shape)));
          return sum as number;
        };
        const slope = ((await measure(0.01)) - (await measure(-0.01))) / 0.02;
        expect(Math.abs((gradient[place] as number) - slope)).toBeLessThan(0.02 * Math.max(1, Math.abs(slope)));
      }
    }
    target.dispose();
    disposeBert(bert);
  });

  test('texts and weights that do not fit are refused', () => {
    const bert = uploadBert(arrays, SMALL_SIZES);
    for (const [ids, length, message] of [
      [[1, 2, 3], 2, 'whole texts'],
      [new Array<number>(10).fill(1), 10, 'expected 1 to 9'],
      [[23], 1, 'no piece of the vocabulary of 23: 23'],
      [[-1], 1, 'no piece of the vocabulary of 23: -1'],
    ] as const)
      expect(() => runBert(bert, Int32Array.from(ids), length)).toThrow(message);
    disposeBert(bert);
  });

  test('arrays that are missing or have another shape are refused, and leave no tensor', () => {
    for (const name of ['embeddings.LayerNorm.bias', 'encoder.layer.1.output.LayerNorm.bias']) {
      const { [name]: _, ...missing } = arrays;
      expect(() => uploadBert(missing, SMALL_SIZES)).toThrow(ValidationError);
      expect(() => uploadBert(missing, SMALL_SIZES)).toThrow(`no ${name}, which is [12]`);
    }
    expect(() => uploadBert(arrays, { ...SMALL_SIZES, vocab_size: 24 })).toThrow(
      '[23, 12] for embeddings.word_embeddings.weight, which is [24, 12]',
    );
    expect(() => uploadBert(arrays, { ...SMALL_SIZES, num_attention_heads: 5 })).toThrow('hidden_size 12 of 5 heads');
  });
});
