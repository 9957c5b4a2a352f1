import { describe, expect, test } from 'vitest';
import { formatFileName } from '../composition/arms.ts';
import type { Plain } from '../composition/config-file.ts';
import { listArmsToRun } from './arm-selection.ts';
import { least, listResolveFaults, plain } from './config.fixture.ts';
import { resolveConfig } from './config.ts';

describe('an arm that others start from', () => {
  const arms = {
    plain: [...plain, { decay: { halfLifeHours: 5 } }],
    x: { from: 'plain', then: [{ blend: { trajectory: {} } }] },
    y: { from: 'x', set: { decay: null } },
  };

  test('gives them its steps, and all are in what is written out', () => {
    const config = resolveConfig({ ...least, arms }, 'test.yaml');
    expect(
      config.arms.map((arm) => [arm.name, arm.extends, arm.steps, (arm.decay as Plain | null)?.halfLifeHours]),
    ).toEqual([
      ['plain', undefined, ['search', 'decay'], 5],
      ['x', 'plain', ['search', 'decay', 'blend'], 5],
      ['y', 'x', ['search', 'decay', 'blend'], undefined],
    ]);
    expect(resolveConfig(structuredClone(config) as unknown as Plain, 'again')).toEqual(config);
  });

  test('is not run where only names others', () => {
    const config = resolveConfig({ ...least, arms, evaluation: { baseline: 'y' }, only: ['x'] }, 'test.yaml');
    expect(listArmsToRun(config).map(({ name }) => name)).toEqual(['x', 'y']);
  });
});

describe('a sweep', () => {
  const sweep = { method: 'grid', arm: 'plain', factors: { b: { path: 'bm25.b', values: [0.3, 0.6] } } };
  const listExpandedNames = (config: Plain) =>
    resolveConfig({ ...least, ...config }, 'test.yaml').arms.map(({ name }) => name);

  test('is in the resolved config as its arms and its design', () => {
    const config = resolveConfig({ ...least, sweep }, 'test.yaml');
    expect(config.arms.map(({ name, levels }) => [name, levels])).toEqual([
      ['plain', null],
      ['plain | b=0.3', { b: '0.3' }],
      ['plain | b=0.6', { b: '0.6' }],
    ]);
    expect(config.sweep).toEqual({ method: 'grid', arm: 'plain', factors: [{ name: 'b', levels: ['0.3', '0.6'] }] });
    expect(resolveConfig(structuredClone(config) as unknown as Plain, 'again')).toEqual(config);
  });

  test('makes arms that the others can be compared with', () => {
    expect(listResolveFaults({ sweep, evaluation: { baseline: 'plain | b=0.3' } })).toEqual([]);
    expect(listResolveFaults({ sweep, evaluation: { baseline: 'plain | b=0.4' } })).toEqual([
      expect.stringMatching(
        /^evaluation\.baseline: expected an arm \(plain, plain \| b=0\.3, .*\), got "plain \| b=0\.4"; /,
      ),
    ]);
  });

  test('at random draws by the seed of the experiment, whatever else is in it', () => {
    const random = {
      method: 'random',
      arm: 'plain',
      samples: 5,
      factors: { b: { path: 'bm25.b', low: 0, high: 1 } },
    };
    expect(listExpandedNames({ sweep: random, seed: 7 })).toEqual(
      listExpandedNames({ sweep: random, seed: 7, backend: 'cpu' }),
    );
    expect(listExpandedNames({ sweep: random, seed: 7 })).not.toEqual(listExpandedNames({ sweep: random, seed: 8 }));
    expect(listExpandedNames({ sweep: { ...random, seed: 7 }, seed: 8 })).toEqual(
      listExpandedNames({ sweep: random, seed: 7 }),
    );
  });

  test('may not make two arms of one file name', () => {
    const factors = { x: { 'a+b': { decay: null }, 'a-b': { decay: {} } } };
    expect(listResolveFaults({ sweep: { ...sweep, factors } })).toEqual([
      'sweep: arm "plain | x=a-b": name: expected a name that no arm before it has, got "plain-x-a-b"',
    ]);
  });

  test.each(['grid', 'one-factor'])('of %s gives names that differ as files', (method) => {
    const values = [-1, 1, 0.1, 10, -0.1];
    const levels = Object.fromEntries(values.map((value) => [String(value), { decay: { halfLifeHours: 2 + value } }]));
    const config = resolveConfig({ ...least, sweep: { method, arm: 'plain', factors: { x: levels } } }, 'test.yaml');
    const files = config.arms.map(({ name }) => formatFileName(name));
    expect(new Set(files).size).toBe(values.length + 1);
  });
});
