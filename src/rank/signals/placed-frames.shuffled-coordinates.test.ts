import { afterAll, beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import type { QueryFrames } from '../../ops/trajectory/query-frames.ts';
import { computeFramesIn, drawSamplePool } from './columns.harness.ts';
import { createSampleWorkspace, drawSampleWorld } from './corpus.fixture.ts';
import { shuffleFrames } from './placed-frames.ts';
import { TRAJECTORY_DEFAULTS } from './signal-options.ts';
import type { CandidatePool } from './stage.ts';
import { trajectorySignal } from './trajectory.ts';
import type { Workspace } from './workspace.ts';
import type { ControlOptions } from './worlds/world-parts.ts';

const control: ControlOptions = { kind: 'shuffled-coordinates', seed: 29 };
const world = drawSampleWorld(19, 97, 23, 3);
let workspace: Workspace;
let pool: CandidatePool;
let plain: QueryFrames;
let shuffled: QueryFrames;
beforeAll(async () => {
  await useBackend('wasm');
  workspace = createSampleWorkspace(world);
  pool = await drawSamplePool(workspace);
  plain = await computeFramesIn(workspace, pool, TRAJECTORY_DEFAULTS, null);
  shuffled = await computeFramesIn(workspace, pool, TRAJECTORY_DEFAULTS, control);
});
afterAll(() => workspace.dispose());

/** Each place of a query's row as text: all that its distance is made of. */
function describePairRow(frames: QueryFrames, query: number): string[] {
  const size = frames.names.length;
  return Array.from({ length: pool.width }, (_, place) => {
    const pair = query * pool.width + place;
    const joinPairPart = (values: Float32Array) => values.slice(pair * size, (pair + 1) * size).join();
    return `${joinPairPart(frames.candidates)} to ${joinPairPart(frames.queries)}, ${frames.coldStart[pair]}`;
  });
}

test("each query's candidates have the coordinates that they had, but not each its own", () => {
  let moved = 0;
  for (const query of world.queries.keys()) {
    const [before, after] = [describePairRow(plain, query), describePairRow(shuffled, query)];
    expect(after.toSorted()).toEqual(before.toSorted());
    moved += after.filter((row, place) => row !== before[place]).length;
  }
  const candidates = pool.positions.filter((position) => position >= 0).length;
  expect(moved).toBeGreaterThan(candidates / 2);
});

test('padding stays where it is', () => {
  const size = plain.names.length;
  for (const [pair, position] of pool.positions.entries())
    if (position < 0) expect(shuffled.candidates.slice(pair * size, (pair + 1) * size)).toEqual(new Float32Array(size));
});

test("a query's distances are those that they were, in another order", async () => {
  const [before, after] = [
    await workspace.get(trajectorySignal(TRAJECTORY_DEFAULTS), pool),
    await workspace.under(control).get(trajectorySignal(TRAJECTORY_DEFAULTS), pool),
  ];
  for (const query of world.queries.keys()) {
    const sliceQueryRow = (column: Float32Array) => column.slice(query * pool.width, (query + 1) * pool.width);
    const measureRowChange = (value: number, i: number) =>
      Math.abs(value - (sliceQueryRow(before).toSorted()[i] as number));
    expect(Math.max(...Array.from(sliceQueryRow(after).toSorted(), measureRowChange))).toBeLessThan(1e-6);
  }
  expect(after).not.toEqual(before);
});

test('another seed exchanges otherwise, the same one the same', async () => {
  const other = await computeFramesIn(workspace, pool, TRAJECTORY_DEFAULTS, { ...control, seed: 31 });
  expect(other.candidates).not.toEqual(shuffled.candidates);
  const own = createSampleWorkspace(world);
  expect(await computeFramesIn(own, await drawSamplePool(own), TRAJECTORY_DEFAULTS, control)).toEqual(shuffled);
  own.dispose();
});

test('queries with as many candidates are each shuffled by themselves', () => {
  const [queries, width] = [world.queries.slice(0, 5), 13];
  const pairs = Float32Array.from({ length: 5 * width }, (_, pair) => pair % width);
  const frames = { ...plain, names: plain.names.slice(0, 1), candidates: pairs, queries: pairs };
  const rows = { positions: new Int32Array(5 * width), width, queryCount: 5 };
  const { candidates } = shuffleFrames({ ...frames, coldStart: new Uint8Array(5 * width) }, rows, queries, 29);
  const orders = queries.map((_, query) => candidates.slice(query * width, (query + 1) * width).join());
  expect(new Set(orders).size).toBe(5);
});
