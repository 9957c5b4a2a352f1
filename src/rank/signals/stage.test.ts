import { describe, expect, test } from 'vitest';
import { type Artifact, KEEPS_NOTHING, type Stage, StageResults } from './stage.ts';
import { SampleStageStore } from './stage-store.harness.ts';

const stageOf = (name: string, key = `key of ${name}`): Stage => ({ name, key, inputs: [], isKept: true });

describe('in memory', () => {
  test('a stage is made once for all who ask, at the same time or later', async () => {
    const runner = new StageResults(KEEPS_NOTHING);
    let calls = 0;
    const ask = () => runner.run<number>(stageOf('pool'), () => ++calls);
    expect(await Promise.all([ask(), ask()])).toEqual([1, 1]);
    expect(await ask()).toBe(1);
    expect(runner.takeStageCounts()).toMatchObject({ pool: { executed: 1, memory: 2, disk: 0 } });
  });

  test('stages of one name are distinguished by their keys, and counted together, names in order', async () => {
    const runner = new StageResults(KEEPS_NOTHING);
    const made: number[] = [];
    for (const [name, key] of [
      ['pool', 'a'],
      ['pool', 'b'],
      ['cosine', 'c'],
      ['pool', 'a'],
    ] as const)
      made.push(await runner.run<number>(stageOf(name, key), () => made.length));
    expect(made).toEqual([0, 1, 2, 0]);
    const counts = runner.takeStageCounts();
    expect(Object.keys(counts)).toEqual(['cosine', 'pool']);
    expect(counts).toMatchObject({
      cosine: { executed: 1, memory: 0, disk: 0, launches: 0 },
      pool: { executed: 2, memory: 1, disk: 0 },
    });
    expect(runner.takeStageCounts()).toEqual({});
  });

  test('a cleared result is computed again', async () => {
    const runner = new StageResults(KEEPS_NOTHING);
    const ask = (value: number) => runner.run<number>(stageOf('pool'), () => value);
    await ask(3);
    runner.clear();
    expect(await ask(5)).toBe(5);
    expect(runner.takeStageCounts()).toMatchObject({ pool: { executed: 2, memory: 0, disk: 0 } });
  });
});

describe('with a store', () => {
  test.each([
    ['a number', 0.375],
    ['0', 0],
    ['an array', Int32Array.of(3, -1)],
    ['fields', { width: 2, names: ['a', 'b'], scores: Float32Array.of(0.5, -0.5), none: null }],
  ])('%s is read by another, as it was', async (_, value) => {
    const store = new SampleStageStore();
    const maker = new StageResults(store);
    expect(await maker.run<number>(stageOf('pool'), () => value as number)).toEqual(value);
    expect(maker.takeStageCounts()).toMatchObject({ pool: { executed: 1, memory: 0, disk: 0 } });
    const reader = new StageResults(store);
    const ask = () => reader.run<number>(stageOf('pool'), () => -7);
    expect(await ask()).toEqual(value);
    expect(await ask()).toEqual(value);
    expect(reader.takeStageCounts()).toMatchObject({ pool: { executed: 0, memory: 1, disk: 1 } });
  });

  test('behind a network, a stage is awaited, and fails where it cannot be kept', async () => {
    const kept = new SampleStageStore();
    const far = {
      read: async (stage: Stage) => kept.read(stage),
      write: async (stage: Stage, artifact: Artifact) => kept.write(stage, artifact),
    };
    expect(await new StageResults(far).run<number>(stageOf('pool'), () => 3)).toBe(3);
    expect(await new StageResults(far).run<number>(stageOf('pool'), () => 5)).toBe(3);
    const full = { read: far.read, write: () => Promise.reject(new Error('no room')) };
    await expect(new StageResults(full).run<number>(stageOf('other'), () => 3)).rejects.toThrow('no room');
  });

  test('a stage that is not kept is neither written nor read', async () => {
    const store = new SampleStageStore();
    const stage = { ...stageOf('pool'), isKept: false };
    await new StageResults(store).run<number>(stage, () => 3);
    expect(store.artifacts.size).toBe(0);
    store.write(stage, { value: 5 });
    expect(await new StageResults(store).run<number>(stage, () => 7)).toBe(7);
  });

  test('a stage that fails fails for all who ask, and leaves nothing', async () => {
    const store = new SampleStageStore();
    const runner = new StageResults(store);
    const first = runner.run<number>(stageOf('pool'), () => Promise.reject(new Error('no')));
    const second = runner.run<number>(stageOf('pool'), () => 3);
    await expect(first).rejects.toThrow('no');
    await expect(second).rejects.toThrow('no');
    expect(store.artifacts.size).toBe(0);
    expect(runner.takeStageCounts()).toMatchObject({ pool: { executed: 0, memory: 1, disk: 0 } });
  });
});
