import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { COORDINATES } from '../../ops/trajectory/coordinate-names.ts';
import type { QueryFrames } from '../../ops/trajectory/query-frames.ts';
import { computeFramesIn, drawSamplePool, listCandidateTurns } from './columns.harness.ts';
import { createSampleWorkspace, drawSampleWorld } from './corpus.fixture.ts';
import { buildVisibleThread, computePlainCoordinates } from './scores.oracle.ts';
import { TRAJECTORY_DEFAULTS, type TrajectoryOptions } from './signal-options.ts';
import type { CandidatePool } from './stage.ts';
import type { Workspace } from './workspace.ts';
import type { ControlKind } from './worlds/world-parts.ts';

const world = drawSampleWorld(31, 97, 23, 5);
let workspace: Workspace;
let pool: CandidatePool;
beforeAll(async () => {
  await useBackend('wasm');
  workspace = createSampleWorkspace(world);
  pool = await drawSamplePool(workspace);
});
afterAll(() => workspace.dispose());

describe.each([3, 5, 7] as const)('in %i dimensions', (dimensions) => {
  const options: TrajectoryOptions = { ...TRAJECTORY_DEFAULTS, dimensions };
  const names = COORDINATES[dimensions];

  test('candidates and queries have the coordinates of the thread that the query joins', async () => {
    const frames = await computeFramesIn(workspace, pool, options, null);
    let worst = 0;
    for (const [q, query] of world.queries.entries())
      for (const [c, turn] of listCandidateTurns(workspace, pool, q).entries()) {
        const expected = computePlainCoordinates(world, query, buildVisibleThread(world, query, turn));
        const at = (q * pool.width + c) * names.length;
        for (const [i, name] of names.entries()) {
          if (name === 'complexity') continue;
          const own = frames.candidates[at + i]! - expected.get(turn.id)![name]!;
          const other = frames.queries[at + i]! - expected.get(query.id)![name]!;
          worst = Math.max(worst, Math.abs(own), Math.abs(other));
        }
      }
    expect(worst).toBeLessThan(1e-6);
  });
});

test.each([5, 7] as const)('complexity in %i dimensions is on the scale that is asked for', async (dimensions) => {
  const { length } = COORDINATES[dimensions];
  const place = COORDINATES[dimensions].indexOf('complexity');
  const column = async (complexityScale: 'raw' | 'log') => {
    const options = { ...TRAJECTORY_DEFAULTS, dimensions, complexityScale };
    const { queries } = await computeFramesIn(workspace, pool, options, null);
    return queries.filter((_, i) => i % length === place && pool.positions[Math.floor(i / length)]! >= 0);
  };
  const [raw, log] = [await column('raw'), await column('log')];
  expect(raw.every((value) => Number.isInteger(value) && value >= 1)).toBe(true);
  expect(Math.max(...raw)).toBeGreaterThan(1);
  expect(log.every((value) => value >= 0 && value <= 1)).toBe(true);
});

describe('a control', () => {
  const options: TrajectoryOptions = { ...TRAJECTORY_DEFAULTS, dimensions: 7 };

  test.each<[ControlKind, readonly (keyof QueryFrames)[]]>([
    ['permuted-order', ['ringPositions', 'ringDistances', 'lineDistances']],
    ['shuffled-coordinates', ['candidates', 'queries', 'coldStart']],
    ['random-parents', ['candidates', 'queries']],
    ['rewired-graph', ['candidates', 'queries']],
  ])('%s changes what it destroys, and nothing else', async (kind, changed) => {
    const plain = await computeFramesIn(workspace, pool, options, null);
    const controlled = await computeFramesIn(workspace, pool, options, { kind, seed: 29 });
    const bytes = (value: unknown) => JSON.stringify(ArrayBuffer.isView(value) ? [...(value as Float32Array)] : value);
    const fields = Object.keys(plain) as (keyof QueryFrames)[];
    const found = fields.filter((field) => bytes(plain[field]) !== bytes(controlled[field]));
    expect(found.sort()).toEqual(changed.toSorted());
  });

  test('that moves frames takes those that are there, made once for all', async () => {
    const own = createSampleWorkspace(world);
    const rows = await drawSamplePool(own);
    const [a, b] = await Promise.all([
      computeFramesIn(own, rows, options, { kind: 'permuted-order', seed: 29 }),
      computeFramesIn(own, rows, options, { kind: 'shuffled-coordinates', seed: 29 }),
    ]);
    const plain = await computeFramesIn(own, rows, options, null);
    expect([a.candidates === plain.candidates, b.turns === plain.turns]).toEqual([true, true]);
    const { frames, 'controlled-frames': controlled } = own.takeStageCounts();
    own.dispose();
    expect([frames?.executed, controlled?.executed]).toEqual([1, 2]);
  });
});
