import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { createSampleWorkspace, drawSampleWorld } from '../signals/corpus.fixture.ts';
import { CONTROL_KINDS, type ControlKind } from '../signals/worlds/control-options.ts';
import { listControlsFor } from './arms.fixture.ts';
import { retrieve } from './retriever.ts';
import { type RetrieverOptions, retrieverOptions } from './retriever-options.ts';

const [order, coordinates, parents, rewired, random, titles] = CONTROL_KINDS;
const allOf = [coordinates, parents, rewired];
const walkFrom = (options: object) => ({
  candidates: [...hybrid.candidates, { index: 'graph', k: 17, ...options }],
  relevance: { signals: ['cosine', 'bm25', 'graph'], fusion: { method: 'rrf' } },
});
const hybrid = {
  candidates: [
    { index: 'bm25', k: 19 },
    { index: 'flat', k: 13 },
  ],
  relevance: { signals: ['cosine', 'bm25'] },
  decay: { halfLifeHours: 31 },
};
const plainly = { decay: null };
const parseHybridArm = (options: object): RetrieverOptions => retrieverOptions.parse({ ...hybrid, ...options });

/** An arm, and the controls that it needs. */
const ARMS: readonly (readonly [string, object, readonly ControlKind[]])[] = [
  ['words, vectors and time', {}, []],
  ['strategies of questions', { relevance: { signals: ['strategy'] } }, ['shuffled-strategies']],
  ...(['uniform', 'procedural'] as const).map(
    (weights) =>
      [
        `one strategy, ${weights}`,
        { relevance: { signals: ['strategy'], options: { strategy: { weights } } } },
        [],
      ] as const,
  ),
  ['five coordinates', { trajectory: {} }, allOf],
  ['time alone of three', { trajectory: { dimensions: 3, weights: { depth: 0, homogeneity: 0 } } }, [coordinates]],
  [
    'numbers of children beside time',
    {
      trajectory: {
        dimensions: 7,
        weights: { depth: 0, siblingOrder: 0, homogeneity: 0, complexity: 0, branchFactor: 0 },
      },
    },
    [coordinates, parents],
  ],
  ['rcp', { attention: { mechanism: 'rcp' } }, [order]],
  ['ircp', { attention: { mechanism: 'ircp' } }, [order]],
  ['tpo', { attention: { mechanism: 'tpo' } }, allOf],
  [
    'tpo over time alone',
    { attention: { mechanism: 'tpo' }, trajectory: { dimensions: 3, weights: { depth: 0, homogeneity: 0 } } },
    [coordinates],
  ],
  ['rcp and coordinates', { attention: { mechanism: 'rcp' }, trajectory: {} }, [order, ...allOf]],
  ['unified', { attention: { mechanism: 'unified' } }, [order, ...allOf]],
  ['unified of rings alone', { attention: { mechanism: 'unified', mix: { rcp: 0.5, ircp: 0.5, tpo: 0 } } }, [order]],
  ['unified of tpo alone', { attention: { mechanism: 'unified', mix: { rcp: 0, ircp: 0, tpo: 1 } } }, allOf],
  ['propagation', { propagation: { preset: 'framework' } }, [order]],
  [
    'a mix of words and time',
    { ...plainly, scoring: { weights: { bm25: 1, 'decay.24h': 1, 'attention.rcp': 0 } } },
    [],
  ],
  ['a mix with rcp', { ...plainly, scoring: { weights: { bm25: 1, 'attention.rcp-additive': 1 } } }, [order]],
  ['a mix with tpo', { ...plainly, scoring: { weights: { bm25: 1, tpo: 1 } } }, allOf],
  [
    'a mix with a trajectory',
    { ...plainly, scoring: { weights: { 'attention.ircp': 1, 'trajectory.3': 1 } } },
    [order, ...allOf],
  ],
  ['a mix with time', { ...plainly, scoring: { weights: { 'difference.temporal': 1 } } }, [coordinates]],
  [
    'a mix with numbers of children',
    { ...plainly, scoring: { weights: { 'difference.children-count': 1 } } },
    [coordinates, parents],
  ],
  ['a graph without names', walkFrom({ edges: { names: 0, namedBy: 0 } }), [random]],
  ['propagation and coordinates', { propagation: { preset: 'framework' }, trajectory: {} }, [order, ...allOf]],
];

test('shuffled titles control arms that walk along names or start at titles', () => {
  expect(listControlsFor(parseHybridArm(walkFrom({})))).toEqual([random, titles]);
  const alone = { edges: { names: 0, namedBy: 0 }, seeds: { titles: true } };
  expect(listControlsFor(parseHybridArm(walkFrom(alone)))).toEqual([random, titles]);
});

test.each(ARMS)('%s', (_, options, controls) => {
  expect(listControlsFor(parseHybridArm(options))).toEqual(controls);
});

describe('a control', () => {
  beforeAll(() => useBackend('wasm'));
  const world = drawSampleWorld(7, 101, 11, 3);

  test.each(ARMS)(
    'changes the scores of an arm where it is among its controls, and only there: %s',
    async (_, options, controls) => {
      const workspace = createSampleWorkspace(world);
      const scoreUnderControl = async (kind: ControlKind | null) =>
        (await retrieve(workspace, parseHybridArm({ ...options, control: kind && { kind, seed: 3 } }))).scores;
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
    const unified = { trajectory: {}, attention: { mechanism: 'unified' } };
    const listExecuted = () =>
      Object.entries(workspace.readStageCounts()).map(([name, counts]) => [name, counts.executed] as const);
    await retrieve(workspace, parseHybridArm(unified));
    const before = new Map(listExecuted());
    await retrieve(workspace, parseHybridArm({ ...unified, control: { kind } }));
    const added = listExecuted().filter(([name, count]) => count > (before.get(name) ?? 0));
    workspace.dispose();
    expect(added.map(([name]) => name)).toEqual(own);
    for (const [name, count] of added) expect(count - (before.get(name) ?? 0)).toBe(1);
  });

  test("without a seed of its own is drawn by the workspace's", async () => {
    const workspace = createSampleWorkspace(world); // of seed 5
    const scoreUnderSeed = async (seed: number | null) => {
      const options = parseHybridArm({ trajectory: {}, control: { kind: coordinates, seed } });
      return (await retrieve(workspace, options)).scores;
    };
    expect(await scoreUnderSeed(null)).toEqual(await scoreUnderSeed(5));
    expect(await scoreUnderSeed(null)).not.toEqual(await scoreUnderSeed(7));
    workspace.dispose();
  });
});
