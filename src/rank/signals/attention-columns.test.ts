import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { mixUnifiedScores } from './attention-columns.ts';

const [B, C] = [5, 13];

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test('unified scores are the mix, which must sum to 1', async () => {
    const score = (value: number) => tf.fill([B, C], value) as tf.Tensor2D;
    const scores = { rcp: score(0.5), ircp: score(0.25), tpo: score(1) };
    const before = tf.memory().numTensors;
    const mix = mixUnifiedScores(scores, { rcp: 0.4, ircp: 0.4, tpo: 0.2 });
    expect((await mix.array())[4]?.[12]).toBeCloseTo(0.4 * 0.5 + 0.4 * 0.25 + 0.2, 6);
    mix.dispose();
    expect(() => mixUnifiedScores(scores, { rcp: 0.4, ircp: 0.4, tpo: 0.4 })).toThrow(
      'pass shares that sum to 1 within 0.01',
    );
    const turned = tf.zeros([C, B]) as tf.Tensor2D;
    expect(() => mixUnifiedScores({ ...scores, tpo: turned }, { rcp: 0.4, ircp: 0.4, tpo: 0.2 })).toThrow(
      'shape of tpo',
    );
    expect(tf.memory().numTensors).toBe(before + 1);
    tf.dispose([scores, turned]);
  });
});
