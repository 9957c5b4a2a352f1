import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import type { Query } from '../../model/dataset.ts';
import type { Qrels } from '../../model/run.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { listControlsFor } from '../../rank/retrieval/arms.fixture.ts';
import { buildRun, listRankedPositions, rankArm } from '../../rank/retrieval/retriever.ts';
import { parseSteps, type WrittenStep } from '../../rank/retrieval/written-steps.ts';
import { Workspace } from '../../rank/signals/workspace.ts';
import { type ControlKind, controlOptions } from '../../rank/signals/worlds/world-parts.ts';
import type { ArmControl } from '../config/arm-selection.ts';
import { measureRuns } from './measurement.ts';
import type { StructureTest } from './result.ts';

const CONVERSATIONS = 61;
const LENGTH = 13;
const DIMENSION = 3;
const METRIC = 'mrr';

/** One conversation after the other, each a tree that grows at random, with a query at its end that answers any of its turns. Ids tell nothing. */
const source = createRandom(31, 'structure.corpus.test');
const names = source.shuffle(Array.from({ length: CONVERSATIONS * LENGTH }, (_, i) => `t${i}`));
const threads: Turn[][] = Array.from({ length: CONVERSATIONS }, (_, c) => {
  const turns: Turn[] = [];
  for (let i = 0; i < LENGTH; i++)
    turns.push({
      id: names[c * LENGTH + i] as string,
      conversationId: `c${c}`,
      parentId: turns[source.integer(i)]?.id ?? null,
      timestamp: 1000 * (c * 2 * LENGTH + i),
      author: null,
      channel: null,
      text: 'It is so.',
    });
  return turns;
});
const queries = threads.map(
  (turns, c): Query => ({
    id: `q${c}`,
    text: 'It is so.',
    timestamp: 1000 * (c * 2 * LENGTH + LENGTH),
    anchorTurnId: (turns[source.integer(LENGTH)] as Turn).id,
    author: null,
    channel: null,
    split: 'test',
    cluster: `c${c}`,
  }),
);

function countAncestors(turns: readonly Turn[], turn: Turn | undefined): number {
  return turn === undefined || turn.parentId === null
    ? 0
    : 1 +
        countAncestors(
          turns,
          turns.find(({ id }) => id === turn.parentId),
        );
}

/** For each query the turns of its conversation for which something holds. */
function judgeTurns(isRelevant: (turns: readonly Turn[], turn: Turn, query: Query) => boolean): Qrels {
  return new Map(
    queries.map((query, c) => {
      const turns = threads[c] as Turn[];
      return [query.id, new Map(turns.filter((turn) => isRelevant(turns, turn, query)).map(({ id }) => [id, 1]))];
    }),
  );
}

/** At the depth that the query has itself. */
const sameDepth = judgeTurns((turns, turn, { anchorTurnId }) => {
  const anchor = turns.find(({ id }) => id === anchorTurnId);
  return countAncestors(turns, turn) === 1 + countAncestors(turns, anchor);
});
const lastThree = judgeTurns((turns, turn) => turns.indexOf(turn) >= LENGTH - 3);
/** Three turns that are about what the query is about. */
const about = new Set(
  threads.flatMap((turns) =>
    source
      .shuffle([...turns])
      .slice(0, 3)
      .map(({ id }) => id),
  ),
);
const sameTopic = judgeTurns((_, { id }) => about.has(id));
const nextToTopic = judgeTurns((turns, turn) => {
  const place = turns.indexOf(turn);
  const isAbout = (at: number) => about.has(turns[at]?.id ?? '');
  return !isAbout(place) && (isAbout(place - 1) || isAbout(place + 1));
});

let workspace: Workspace;
beforeAll(async () => {
  await useBackend('wasm');
  const corpus = new Corpus(threads.flat());
  const [topic, other] = [
    [1, 0, 0],
    [0.6, 0.8, 0],
  ];
  workspace = new Workspace({
    corpus,
    queries,
    turnVectors: Float32Array.from(corpus.turns.flatMap(({ id }) => (about.has(id) ? topic : other) as number[])),
    queryVectors: Float32Array.from(queries.flatMap(() => topic as number[])),
    dimension: DIMENSION,
    seed: 5,
  });
});
afterAll(() => workspace.dispose());

const byTime = [{ search: { newest: { k: LENGTH } } }];
const byCosine = [...byTime, { score: { cosine: {} } }, { fuse: { only: 'cosine' } }];

/** What an arm owes to structure, compared with an order by a signal that is independent of relevance. */
async function measureCorpusStructure(
  base: readonly WrittenStep[],
  arm: readonly WrittenStep[],
  qrels: Qrels,
): Promise<StructureTest & { readonly gain: string | undefined }> {
  const kinds = listControlsFor(parseSteps(arm));
  const controls = new Map<string, ArmControl>(kinds.map((kind) => [kind, { of: 'arm', kind }]));
  const arms: [string, readonly WrittenStep[], ControlKind | null][] = [
    ['base', base, null],
    ['arm', arm, null],
    ...kinds.map((kind): [string, readonly WrittenStep[], ControlKind] => [kind, arm, kind]),
  ];
  const runs = new Map();
  for (const [name, steps, kind] of arms) {
    const control = kind && controlOptions.parse({ kind });
    const ranked = await rankArm(workspace, { name, ...parseSteps(steps, control) }, LENGTH);
    runs.set(name, buildRun(workspace.corpus, queries, listRankedPositions(ranked)));
  }
  const judging = {
    qrels,
    relevantGrade: 1,
    dataHash: 'd',
    granularity: 'turn',
    judgedOnly: false,
    unanswerableAre: 'apart',
  } as const;
  const how = { metrics: [METRIC], baseline: 'base', samples: 999, level: 0.95, seed: 7, controls };
  const measured = measureRuns(runs, judging, queries, how, () => []).arms[1];
  return {
    ...(measured?.structure?.metrics[METRIC] as StructureTest),
    gain: measured?.comparisons?.[METRIC]?.verdict,
  };
}

/** The kinds that the arm is surely better than. */
function listBeatenControls({ controls }: StructureTest): string[] {
  return Object.entries(controls).flatMap(([kind, { verdict }]) => (verdict === 'better' ? [kind] : []));
}

const TREES = ['random-parents', 'rewired-graph'];

describe('where the tree decides what is relevant', () => {
  const depth = { weight: 0.99, dimensions: 3, weights: { depth: 1, temporal: 0, homogeneity: 0 } };

  test('the gain of coordinates is lost with it', async () => {
    const found = await measureCorpusStructure(byCosine, [...byCosine, { blend: { trajectory: depth } }], sameDepth);
    expect(found.gain).toBe('better');
    expect(found.survives).toEqual([]);
    expect(listBeatenControls(found)).toEqual(['shuffled-coordinates', ...TREES]);
  });

  test('and so is that of attention over them', async () => {
    const { weight, ...coordinates } = depth;
    const tpo = { weight, combine: 'additive', decay: 9, temperature: 1, coordinates };
    const found = await measureCorpusStructure(byCosine, [...byCosine, { blend: { tpo } }], sameDepth);
    expect(found.gain).toBe('better');
    expect(found.survives).toEqual([]);
    expect(listBeatenControls(found)).toEqual(['shuffled-coordinates', ...TREES]);
  });
});

describe('where it is time that decides', () => {
  test('coordinates that are mostly time gain without the tree as well, which is reported', async () => {
    const weights = { temporal: 1, depth: 0.001, homogeneity: 0 };
    const found = await measureCorpusStructure(
      byCosine,
      [...byCosine, { blend: { trajectory: { weight: 0.99, dimensions: 3, weights } } }],
      lastThree,
    );
    expect(found.gain).toBe('better');
    expect(found.survives).toEqual(TREES);
    expect(listBeatenControls(found)).toEqual(['shuffled-coordinates']);
  });

  test.each(['rcp', 'ircp'] as const)('the gain of %s is lost with the order of the turns', async (mechanism) => {
    const attention = { weight: 0.99, topology: 'line', combine: 'additive', decay: 1, temperature: 1 };
    const steps = [...byCosine, { blend: { [mechanism]: attention } }];
    const found = await measureCorpusStructure(byCosine, steps, lastThree);
    expect(found.gain).toBe('better');
    expect(found.survives).toEqual([]);
    expect(listBeatenControls(found)).toEqual(['permuted-order']);
  });
});

describe('where it is the topic', () => {
  test('attention that hardly looks at places gains in any order of the turns, which is reported', async () => {
    const rcp = { weight: 0.99, topology: 'line', decay: 0.001 };
    const found = await measureCorpusStructure(byTime, [...byTime, { blend: { rcp } }], sameTopic);
    expect(found.gain).toBe('better');
    expect(found.survives).toEqual(['permuted-order']);
    expect(listBeatenControls(found)).toEqual([]);
  });
});

test('where neighbours of what is said on the topic are relevant, the gain of propagation is lost with the order', async () => {
  const propagated = [
    { propagate: { topology: 'line', combine: 'additive', self: 'exclude', decay: 3, temperature: 1, beta: 1 } },
    { search: { newest: { k: LENGTH }, flat: { k: 1 } } },
    { fuse: { only: 'flat' } },
  ];
  const found = await measureCorpusStructure(byCosine, propagated, nextToTopic);
  expect(found.gain).toBe('better');
  expect(found.survives).toEqual([]);
  expect(listBeatenControls(found)).toEqual(['permuted-order']);
});
