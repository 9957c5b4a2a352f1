import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../src/core/tensors/backend.ts';
import type { Stage } from '../src/rank/signals/stage.ts';
import { NO_COUNT } from '../src/rank/signals/stage.ts';
import { runBenchCommand } from './command.harness.ts';
import { formatStages, TimingStore } from './stages.ts';
import { buildSweepConfig, formatSweep } from './sweep.ts';
import type { RunCost } from './sweep-child.ts';

const run = runBenchCommand;

describe('the sweep', () => {
  beforeAll(() => useBackend('wasm'));

  test('has 24 arms that differ in their weights alone', () => {
    const settings = { synthetic: null, queries: null, repeats: 1, seed: 7, backend: 'wasm' };
    const { arms } = buildSweepConfig(settings, { name: 'spamassassin-threads' }, 24);
    const read = (arm: object) => arm as { readonly blend: Record<'trajectory' | 'unified', { weight: number }> };
    const weights = arms.map((arm) => {
      const { trajectory, unified } = read(arm).blend;
      return `${trajectory.weight} ${unified.weight}`;
    });
    expect(new Set(weights).size).toBe(24);
    const others = arms.map((arm) => {
      const { trajectory, unified, ...rest } = read(arm).blend;
      const blend = { ...rest, trajectory: { ...trajectory, weight: 0 }, unified: { ...unified, weight: 0 } };
      return JSON.stringify({ ...arm, name: '', blend });
    });
    expect(new Set(others).size).toBe(1);
  });

  test('executes as many stages as one arm', async () => {
    const { output } = await run('sweep', '--synthetic', '150', '--repeats', '1', '--backend', 'wasm');
    expect(output).toMatch(/^machine: .* backend wasm\ndata: about 150 made-up turns, all queries, seed 7; /);
    const [, one, all] = output.match(/^stage executions +(\d+) +(\d+) +1\.00x$/m) ?? [];
    expect(Number(one)).toBeGreaterThan(10);
    expect(all).toBe(one);
  });

  const buildRunCost = (seconds: number, executed: number): RunCost => ({
    seconds,
    cpuSeconds: seconds / 2,
    timings: [
      { stage: 'dataset', seconds: 1, launches: 0 },
      { stage: 'embedding', seconds: 3, launches: 0 },
      { stage: 'arms', seconds: seconds - 4, launches: 0 },
    ],
    stages: {
      pool: { ...NO_COUNT, executed: 1, memory: 9 },
      cosine: { ...NO_COUNT, executed: executed - 1, disk: 4 },
    },
    backend: 'wasm',
  });

  test.each([
    ['kept', 16, 11],
    ['missed in seconds', 16.2, 11],
    ['missed in executions', 10, 17],
  ])('is %s', (verdict, seconds, executed) => {
    const table = formatSweep(buildRunCost(10, 10), buildRunCost(seconds, executed));
    expect(table).toMatch(/^ {2}dataset and embedding +4\.00 +4\.00 +1\.00x$/m);
    expect(table.endsWith(`target at most 1.6x in both: ${verdict.split(' ')[0]}`)).toBe(true);
  });

  test.each([
    [['--repeats', '0'], /--repeats is not an integer: 0; give one from 1/],
    [['--arms', '3'], /Unknown option '--arms'/],
  ])('refuses %j', async (args, message) => {
    const errors: unknown = expect.stringMatching(message);
    expect(await run('sweep', ...args)).toMatchObject({ status: 2, errors });
  });
});

describe('what stages cost', () => {
  const buildNamedStage = (name: string): Stage => ({ name, key: name, inputs: [], isKept: true });

  test("is a stage's own time, without its inputs and without what writing them took", () => {
    let now = 0;
    const written: string[] = [];
    const inner = {
      read: () => null,
      write: ({ name }: Stage) => {
        written.push(name);
        now += 0.25;
      },
    };
    const store = new TimingStore(inner, () => now);
    const steps: [() => void, number][] = [
      [() => store.read(), 1], // attention begins
      [() => store.read(), 2], // frames begin
      [() => store.write(buildNamedStage('frames'), {}), 4],
      [() => store.read(), 8], // cosine begins
      [() => store.write(buildNamedStage('cosine'), {}), 16],
      [() => store.write(buildNamedStage('attention'), {}), 0],
    ];
    for (const [step, passes] of steps) {
      step();
      now += passes;
    }
    expect(written).toEqual(['frames', 'cosine', 'attention']);
    expect(store.costs.map(({ stage: { name }, compute, write }) => [name, compute, write])).toEqual([
      ['frames', 2, 0.25],
      ['cosine', 8, 0.25],
      ['attention', 1 + 4 + 16, 0.25],
    ]);
  });

  test('is shown from the least to the most that is saved', () => {
    const table = formatStages([
      { name: 'cosine', isKept: true, bytes: 2 ** 19, compute: 0.2, write: 0.002, read: 0.0005 },
      { name: 'candidates-newest', isKept: false, bytes: 2 ** 20, compute: 0.001, write: 0.003, read: 0.002 },
    ]);
    expect(table.split('\n')).toEqual([
      'stage               MiB  compute ms  write ms  read ms  compute / read',
      '-----------------  ----  ----------  --------  -------  --------------  -----------',
      'candidates-newest  1.00         1.0       3.0      2.0            0.5x  memory only',
      'cosine             0.50       200.0       2.0      0.5          400.0x',
    ]);
  });
});
