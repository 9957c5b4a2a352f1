import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { createSampleWorkspace, drawSampleWorld } from '../signals/corpus.fixture.ts';
import { CONTROL_KINDS, type ControlKind } from '../signals/worlds/world-parts.ts';
import { listControlsFor, parseArm } from './arms.fixture.ts';
import { retrieve } from './retriever.ts';

const [order, coordinates, parents, rewired, random, titles] = CONTROL_KINDS;
const allOf = [coordinates, parents, rewired];
const hybrid = {
  search: { bm25: { k: 19 }, flat: { k: 13 } },
  fuse: { convex: { flat: 0.8, bm25: 'rest' } },
  decay: 31,
};
const walkFrom = (options: object) => ({
  search: { ...hybrid.search, graph: { k: 17, ...options } },
  fuse: { rrf: { flat: 1, bm25: 1, graph: 1 } },
});
const askBy = (strategy: object) => ({ score: { strategy }, fuse: { only: 'strategy' }, decay: 31 });
const blendWith = (blend: object) => ({ ...hybrid, blend });
const mixOf = (weights: object) => ({ search: hybrid.search, mix: { weights } });
const propagating = { propagate: 'framework', ...hybrid };
const timeAlone = { dimensions: 3, weights: { depth: 0, homogeneity: 0 } };

/** An arm, and the controls that it needs. */
const ARMS: readonly (readonly [string, object, readonly ControlKind[]])[] = [
  ['words, vectors and time', hybrid, []],
  ['strategies of questions', { search: hybrid.search, ...askBy({}) }, ['shuffled-strategies']],
  ...(['uniform', 'procedural'] as const).map(
    (weights) => [`one strategy, ${weights}`, { search: hybrid.search, ...askBy({ weights }) }, []] as const,
  ),
  ['five coordinates', blendWith({ trajectory: {} }), allOf],
  ['time alone of three', blendWith({ trajectory: timeAlone }), [coordinates]],
  [
    'numbers of children beside time',
    blendWith({
      trajectory: {
        dimensions: 7,
        weights: { depth: 0, siblingOrder: 0, homogeneity: 0, complexity: 0, branchFactor: 0 },
      },
    }),
    [coordinates, parents],
  ],
  ['rcp', blendWith({ rcp: {} }), [order]],
  ['ircp', blendWith({ ircp: {} }), [order]],
  ['tpo', blendWith({ tpo: {} }), allOf],
  ['tpo over time alone', blendWith({ trajectory: timeAlone, tpo: { coordinates: timeAlone } }), [coordinates]],
  ['rcp and coordinates', blendWith({ trajectory: {}, rcp: {} }), [order, ...allOf]],
  ['unified', blendWith({ unified: {} }), [order, ...allOf]],
  ['unified of rings alone', blendWith({ unified: { mix: { rcp: 0.5, ircp: 0.5, tpo: 0 } } }), [order]],
  ['unified of tpo alone', blendWith({ unified: { mix: { rcp: 0, ircp: 0, tpo: 1 } } }), allOf],
  ['propagation', propagating, [order]],
  ['a mix of words and time', mixOf({ bm25: 1, 'decay.24h': 1, 'attention.rcp': 0 }), []],
  ['a mix with rcp', mixOf({ bm25: 1, 'attention.rcp-additive': 1 }), [order]],
  ['a mix with tpo', mixOf({ bm25: 1, tpo: 1 }), allOf],
  ['a mix with a trajectory', mixOf({ 'attention.ircp': 1, 'trajectory.3': 1 }), [order, ...allOf]],
  ['a mix with time', mixOf({ 'difference.temporal': 1 }), [coordinates]],
  ['a mix with numbers of children', mixOf({ 'difference.children-count': 1 }), [coordinates, parents]],
  ['a graph without names', walkFrom({ edges: { names: 0, namedBy: 0 } }), [random]],
  ['propagation and coordinates', { ...propagating, blend: { trajectory: {} } }, [order, ...allOf]],
];

test('shuffled titles control arms that walk along names or start at titles', () => {
  expect(listControlsFor(parseArm(walkFrom({})))).toEqual([random, titles]);
  const alone = { edges: { names: 0, namedBy: 0 }, seeds: { titles: true } };
  expect(listControlsFor(parseArm(walkFrom(alone)))).toEqual([random, titles]);
});

test.each(ARMS)('%s', (_, options, controls) => {
  expect(listControlsFor(parseArm(options))).toEqual(controls);
});

describe('a control', () => {
  beforeAll(() => useBackend('wasm'));
  const world = drawSampleWorld(7, 101, 11, 3);

  test.each(ARMS)(
    'changes the scores of an arm where it is among its controls, and only there: %s',
    async (_, options, controls) => {
      const workspace = createSampleWorkspace(world);
      const scoreUnderControl = async (kind: ControlKind | null) =>
        (await retrieve(workspace, parseArm(options, kind && { kind, seed: 3 }))).scores;
      const plain = await scoreUnderControl(null);
      const changing = [];
      for (const kind of CONTROL_KINDS)
        if (!Buffer.from((await scoreUnderControl(kind)).buffer).equals(Buffer.from(plain.buffer))) changing.push(kind);
      workspace.dispose();
      expect(changing).toEqual(controls);
    },
  );

  test.each<[ControlKind, readonly string[]]>([
    [order, ['attention', 'controlled-frames', 'log-masses']],
    [coordinates, ['attention', 'controlled-frames', 'trajectory']],
    [parents, ['attention', 'frames', 'trajectory']],
    [rewired, ['attention', 'frames', 'trajectory']],
  ])('%s shares every stage with its arm that it does not touch', async (kind, own) => {
    const workspace = createSampleWorkspace(world);
    const unified = blendWith({ trajectory: {}, unified: {} });
    await retrieve(workspace, parseArm(unified));
    workspace.takeStageCounts(); // of the arm
    await retrieve(workspace, parseArm(unified, { kind, seed: null }));
    const added = Object.entries(workspace.takeStageCounts()).filter(([, { executed }]) => executed > 0);
    workspace.dispose();
    expect(added.map(([name]) => name)).toEqual(own);
    for (const [, { executed }] of added) expect(executed).toBe(1);
  });

  test("without a seed of its own is drawn by the workspace's", async () => {
    const workspace = createSampleWorkspace(world); // of seed 5
    const scoreUnderSeed = async (seed: number | null) => {
      const options = parseArm(blendWith({ trajectory: {} }), { kind: coordinates, seed });
      return (await retrieve(workspace, options)).scores;
    };
    expect(await scoreUnderSeed(null)).toEqual(await scoreUnderSeed(5));
    expect(await scoreUnderSeed(null)).not.toEqual(await scoreUnderSeed(7));
    workspace.dispose();
  });
});
