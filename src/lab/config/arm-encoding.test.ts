import { describe, expect, test } from 'vitest';
import type { Plain } from '../composition/config-file.ts';
import { least, listResolveFaults, plain } from './config.fixture.ts';
import { resolveConfig } from './config.ts';

const written = { ...least, seed: 5, embedding: { encoder: 'lsa', dimension: 128, stem: true } } as Plain;
const resolveArms = (arms: Plain, rest: Plain = {}) =>
  resolveConfig({ ...written, ...rest, arms: { plain, ...arms } }, 'test').arms.map(({ name, embedding, seed }) => ({
    name,
    embedding,
    seed,
  }));

describe('the encoder and the seed of an arm', () => {
  test('are null where the arm has none of its own, so that they follow the experiment', () => {
    expect(resolveArms({ b: plain }).slice(1)).toEqual([{ name: 'b', embedding: null, seed: null }]);
  });

  test('lie over those of the experiment, key by key, unless the encoder is another', () => {
    const [, small, other] = resolveArms({
      small: { steps: plain, embedding: { dimension: 64 } },
      other: { steps: plain, embedding: { encoder: 'use-lite' }, seed: 7 },
    });
    expect(small).toMatchObject({ embedding: { encoder: 'lsa', dimension: 64, stem: true }, seed: null });
    expect(other).toMatchObject({ embedding: { encoder: 'use-lite', maxTokens: 256 }, seed: 7 });
    expect(other?.embedding).not.toHaveProperty('dimension');
  });

  test('pass to the arms that extend it, and resolve to themselves', () => {
    const arms = {
      small: { steps: plain, embedding: { dimension: 64 } },
      child: { from: 'small', then: [{ decay: {} }] },
    };
    const config = resolveConfig({ ...written, arms: { plain, ...arms } }, 'test');
    expect(config.arms[2]?.embedding).toEqual(config.arms[1]?.embedding);
    expect(resolveConfig(structuredClone(config) as unknown as Plain, 'again')).toEqual(config);
  });

  test('are factors of a sweep', () => {
    const factors = { 'embedding.dimension': [32, 64], seed: [1, 2] };
    const swept = resolveArms({}, { sweep: { method: 'grid', arm: 'plain', factors } }).slice(1);
    expect(swept.map(({ embedding, seed }) => [(embedding as { dimension: number }).dimension, seed])).toEqual([
      [32, 1],
      [32, 2],
      [64, 1],
      [64, 2],
    ]);
  });

  test('a sweep over something else leaves them to the experiment', () => {
    const swept = resolveArms({}, { sweep: { method: 'grid', arm: 'plain', factors: { 'bm25.k': [3, 5] } } });
    expect(swept.map(({ embedding }) => embedding)).toEqual([null, null, null]);
  });

  test('can be tuned', () => {
    const tuned = { steps: plain, tune: { 'embedding.dimension': [32, 64] } };
    expect(resolveArms({ tuned })[1]?.embedding).toMatchObject({ encoder: 'lsa', dimension: 128 });
    expect(
      listResolveFaults({
        ...written,
        arms: { plain, tuned: { ...tuned, tune: { 'embedding.dimensions': [32] } } },
      })[0],
    ).toContain('got unknown key "dimensions"; dimension?');
  });

  test('a fault is reported where it was written', () => {
    const faults = listResolveFaults({
      ...written,
      arms: { plain, b: { steps: plain, embedding: { dimension: 0 } }, c: { from: 'b' } },
    });
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(/^arms\.b\.embedding\.dimension: expected/);
    expect(
      listResolveFaults({
        ...written,
        embedding: { encoder: 'lsa', dimension: 0 },
        arms: { plain, b: { steps: plain, embedding: { stem: false } } },
      }),
    ).toHaveLength(1);
  });
});
