import { beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../src/core/tensors/backend.ts';
import { loadConfig } from '../../src/lab/config/config.ts';
import { readTraining } from '../../src/lab/training/training-config.ts';
import { drawHandmadeTable } from '../../src/rank/learning/feature-table.fixture.ts';
import { selectQueries } from '../../src/rank/learning/feature-table.ts';
import { createTableMetric } from '../../src/rank/learning/fit-options.ts';
import { mergeTables } from './merged-table.ts';
import { rankSignals, rankValues } from './ranked-table.ts';
import { learnTogether, listTargets, measureVariant, type Source, VARIANTS } from './study.ts';

beforeAll(() => useBackend('wasm'));

const drawTable = (candidates: number, signals: readonly string[], seed: number) =>
  drawHandmadeTable({ queries: 12, candidates, clusters: 3, signals, weights: signals.map(() => 1), noise: 0.1, seed });

test('merged tables keep every value, judgement and metric of the signals that they share', () => {
  const [narrow, wide] = [drawTable(5, ['a', 'b', 'c'], 1), drawTable(9, ['c', 'a'], 2)];
  const merged = mergeTables([narrow, wide], ['a', 'c']);
  expect(merged).toMatchObject({ width: 9, signals: ['a', 'c'], relevantGrade: 1 });
  expect(merged.queryIds).toEqual([...narrow.queryIds, ...wide.queryIds]);
  for (const [table, first] of [
    [narrow, 0],
    [wide, 12],
  ] as const) {
    const own = selectQueries(
      merged,
      Array.from({ length: 12 }, (_, i) => first + i),
    );
    for (const id of ['mrr@5', 'recall@3']) {
      // By the second signal of the merged table, which is the third and the first of the others.
      const column = table.signals.indexOf('c');
      const [there, here] = [table, own].map((of, i) =>
        createTableMetric(of, id).values(
          Float32Array.from(
            of.mask,
            (_, pair) => of.values[pair * of.signals.length + (i === 0 ? column : 1)] as number,
          ),
        ),
      );
      expect(here).toEqual(there);
    }
    expect(own.mask.reduce((sum, bit) => sum + bit, 0)).toBe(table.mask.reduce((sum, bit) => sum + bit, 0));
  }
});

test('signals become their shares of candidates below, equal ones alike, whatever the padding', () => {
  expect([...rankValues([3, -1, 3, 10])]).toEqual([0.625, 0.25, 0.625, 1]);
  const table = drawTable(5, ['a', 'b'], 1);
  const mask = table.mask.map((bit, pair) => (pair % 5 === 4 ? 0 : bit));
  const ranked = rankSignals({ ...table, mask });
  for (let query = 0; query < 12; query++)
    for (const f of [0, 1]) {
      const read = (of: typeof table, slot: number) => of.values[(query * 5 + slot) * 2 + f]!;
      const slots = [0, 1, 2, 3];
      for (const slot of slots) {
        const below = slots.filter((other) => read(table, other) < read(table, slot)).length;
        const alike = slots.filter((other) => read(table, other) === read(table, slot)).length;
        expect(read(ranked, slot)).toBeCloseTo((below + (alike + 1) / 2) / 4, 6);
      }
      expect(read(ranked, 4)).toBe(read(table, 4));
    }
});

test('a signal that a table lacks is named', () => {
  expect(() => mergeTables([drawTable(4, ['a'], 1), drawTable(4, ['b'], 1)], ['a'])).toThrow('unknown signal: a');
});

/** Sources whose relevant candidates two signals tell, the second of them the other way round in the third source. */
const drawSources = (): Source[] =>
  [
    [1, 1],
    [1, 1],
    [1, -1],
  ].map((weights, i) => {
    const drawn = { queries: 40, candidates: 9, clusters: 4, signals: ['a', 'b', `late.only-${i}`], noise: 0.1 };
    const table = drawHandmadeTable({ ...drawn, weights: [...weights, 0], seed: i + 1 });
    return { name: `s${i}`, table, learns: true, hash: '', clusters: [], contents: [] };
  });
const config = readTraining(loadConfig('configs/learning/late-transfer.yaml', []));
const given = { seed: 1, config: '', paths: {}, targets: [], chats: null, most: 2 };

test('chats of a path are tested beside the targets', () => {
  expect(listTargets(given)).toEqual([]);
  const [chats] = listTargets({ ...given, chats: 'examples/data' });
  expect(chats).toMatchObject({ name: 'chats', dataset: { name: 'jsonl', path: 'examples/data' }, limitQueries: null });
});

test('what is learned on one source works on those of its kind, and on its own unseen half', async () => {
  const sources = drawSources();
  for (const variant of VARIANTS) {
    const { trainedOn, cells } = await measureVariant(config, variant, sources[0]!, sources, given);
    expect(trainedOn).toBe('s0');
    for (const own of ['s0', 's1']) expect(cells[own]?.['mrr@10']).toBeGreaterThan(0.85);
    expect(cells.s2?.['mrr@10']).toBeLessThan(0.75);
  }
});

test('what is learned together has shared signals alone, as many as are best on sources that are left out', async () => {
  const { row, size, curves, mean, whole } = await learnTogether(config, drawSources(), given);
  expect(curves.map(({ name }) => name)).toEqual(['s0', 's1', 's2']);
  for (const [at, value] of mean.entries())
    expect(value).toBeCloseTo(curves.reduce((sum, { curve }) => sum + curve[at]!, 0) / 3, 10);
  expect(mean[size]).toBe(Math.max(...mean));
  // Two sources that agree mislead on the third; the signal that all agree on is first.
  expect(curves[2]!.curve[2]).toBeLessThan(curves[2]!.curve[1]!);
  expect(whole.path).toHaveLength(size);
  expect(whole.path[0]).toBe('a');
  expect(Object.keys(row.cells)).toEqual(['s0', 's1', 's2']);
});
