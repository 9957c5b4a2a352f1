import { describe, expect, test } from 'vitest';
import type { Qrels, Run } from '../../model/run.ts';
import { type Judging, type Measurement, measureRuns } from './measurement.ts';
import type { Stratum, StratumValue, StructureTest } from './result.ts';

/** 30 conversations of one query each, with one relevant document. */
const QUERIES = Array.from({ length: 30 }, (_, q) => ({ id: `q${q}`, cluster: `c${q}` }));
const qrels: Qrels = new Map(QUERIES.map(({ id }) => [id, new Map([['right', 1]])]));
const judging: Judging = {
  qrels,
  relevantGrade: 1,
  dataHash: 'd',
  granularity: 'turn',
  judgedOnly: false,
  unanswerableAre: 'apart',
};
const METRIC = 'success@1';

/** Finds the relevant turns of the first `found` queries, and of a fixed few of the others if it is set to differ. */
function buildFoundRun(found: number, also: readonly number[] = []): Run {
  const answer = (q: number) => (q < found || also.includes(q) ? 'right' : 'wrong');
  return new Map(QUERIES.map(({ id }, q) => [id, [{ id: answer(q), score: 1 }]]));
}

function measureRunsStructure(
  runs: Readonly<Record<string, Run>>,
  metrics: readonly string[] = [METRIC],
  strata: readonly Stratum[] = [],
): Measurement<object> {
  const controls = new Map(
    Object.keys(runs).flatMap((name) => {
      const [of, kind] = name.split(' | ');
      return kind === undefined ? [] : [[name, { of: of as string, kind }] as const];
    }),
  );
  const options = { metrics, baseline: 'base', samples: 499, level: 0.95, seed: 7, controls };
  return measureRuns(new Map(Object.entries(runs)), judging, QUERIES, options, () => strata);
}

/** The verdict on the second arm. */
function measureSecondStructure(runs: Readonly<Record<string, Run>>): StructureTest {
  return measureRunsStructure(runs).arms[1]?.structure?.metrics[METRIC] as StructureTest;
}

const base = buildFoundRun(5);

describe('a gain', () => {
  test('is not due to what a control destroys that has it too', () => {
    const test = measureSecondStructure({ base, arm: buildFoundRun(25), 'arm | order': buildFoundRun(25, [26]) });
    expect(test.survives).toEqual(['order']);
    expect(test.controls.order?.difference.mean).toBeCloseTo(-1 / 30, 12);
  });

  test('is due to what a control destroys that loses it', () => {
    const { survives, controls } = measureSecondStructure({ base, arm: buildFoundRun(25), 'arm | order': base });
    expect(survives).toEqual([]);
    expect(controls.order).toMatchObject({ verdict: 'better', wins: 20, ties: 10, losses: 0 });
    expect(controls.order?.difference.mean).toBeCloseTo(20 / 30, 12);
  });

  test('that a control keeps in part, the arm being better still, does not survive it', () => {
    const { survives, controls } = measureSecondStructure({
      base,
      arm: buildFoundRun(28),
      'arm | order': buildFoundRun(16),
    });
    expect(controls.order?.verdict).toBe('better');
    expect(survives).toEqual([]);
  });

  test('of an undecided control does not survive, though arm and control do not differ', () => {
    // The control differs from the baseline in four conversations, so its p is 2 / 2^4.
    const { survives, controls } = measureSecondStructure({
      base,
      arm: buildFoundRun(12),
      'arm | order': buildFoundRun(9),
    });
    expect(controls.order?.verdict).toBe('undecided');
    expect(survives).toEqual([]);
  });

  test('that is none survives nothing', () => {
    expect(measureSecondStructure({ base, arm: base, 'arm | order': buildFoundRun(25) }).survives).toEqual([]);
    expect(measureSecondStructure({ base, arm: buildFoundRun(1), 'arm | order': buildFoundRun(1) }).survives).toEqual(
      [],
    );
  });

  test('may survive one control and not another', () => {
    const runs = { base, arm: buildFoundRun(25), 'arm | order': buildFoundRun(24), 'arm | parents': buildFoundRun(4) };
    expect(measureSecondStructure(runs).survives).toEqual(['order']);
  });

  test('is looked at metric by metric', () => {
    // By rank 2 the control finds what the arm finds, at rank 1 it does not.
    const second: Run = new Map(
      QUERIES.map(({ id }, q) => [
        id,
        [
          { id: 'wrong', score: 2 },
          { id: q < 25 ? 'right' : 'other', score: 1 },
        ],
      ]),
    );
    const { arms } = measureRunsStructure({ base, arm: buildFoundRun(25), 'arm | order': second }, [
      'success@1',
      'success@2',
    ]);
    expect(arms[1]?.structure?.metrics['success@1']?.survives).toEqual([]);
    expect(arms[1]?.structure?.metrics['success@2']?.survives).toEqual(['order']);
    expect(arms[1]?.structure?.survives).toEqual(['order']);
  });
});

describe('families', () => {
  const arms = { base, arm: buildFoundRun(11), other: buildFoundRun(3) };
  const controls = {
    'arm | a': buildFoundRun(12),
    'arm | b': buildFoundRun(9),
    'other | a': buildFoundRun(6),
    'other | b': buildFoundRun(0),
  };

  test('controls move no figure of an arm', () => {
    const alone = measureRunsStructure(arms).arms;
    const together = measureRunsStructure({ ...arms, ...controls }).arms;
    for (const [i, { structure: _, ...arm }] of alone.entries()) expect(together[i]).toMatchObject(arm);
  });

  test('are corrected among themselves: arms, controls, and the controls of each arm', () => {
    const { arms: all } = measureRunsStructure({ ...arms, ...controls });
    const computeCorrectionFactor = (comparison: { readonly p: number; readonly correctedP: number } | undefined) =>
      Math.round((comparison?.correctedP as number) / (comparison?.p as number));
    const findSmallestP = (group: readonly ({ readonly p: number; readonly correctedP: number } | undefined)[]) =>
      group.reduce((least, one) => ((one?.p as number) < (least?.p as number) ? one : least));
    const findSmallestAgainst = (places: readonly number[]) =>
      findSmallestP(places.map((i) => all[i]?.comparisons?.[METRIC]));
    expect(computeCorrectionFactor(findSmallestAgainst([1, 2]))).toBe(2);
    expect(computeCorrectionFactor(findSmallestAgainst([3, 4, 5, 6]))).toBe(4);
    for (const i of [1, 2]) {
      const own = Object.values(all[i]?.structure?.metrics[METRIC]?.controls ?? {});
      expect(own).toHaveLength(2);
      expect(computeCorrectionFactor(findSmallestP(own))).toBe(2);
    }
  });

  test('are corrected apart within strata too', () => {
    const strata: Stratum[] = [
      {
        name: 'half',
        description: '',
        levels: [
          { name: 'first', queries: Array.from({ length: 13 }, (_, q) => q) },
          { name: 'second', queries: Array.from({ length: 17 }, (_, q) => 13 + q) },
        ],
      },
    ];
    const some = [14, 17, 22, 25, 28];
    const runs = {
      base,
      arm: buildFoundRun(9, some),
      'arm | a': buildFoundRun(9, some),
      'arm | b': buildFoundRun(11, some),
    };
    const measureRunsLevel = (all: Readonly<Record<string, Run>>, level: string) =>
      measureRunsStructure(all, [METRIC], strata).arms.map(({ strata: held }) => held.half?.[level]?.[METRIC]);
    const computeCorrectionFactor = (value: StratumValue | undefined) =>
      (value?.correctedP as number) / (value?.p as number);
    const alone = { base, arm: runs.arm };
    for (const level of ['first', 'second'])
      expect(measureRunsLevel(runs, level)[1]).toEqual(measureRunsLevel(alone, level)[1]);
    // The surer of the arm's two levels, and the surest of the controls' four.
    expect(computeCorrectionFactor(measureRunsLevel(runs, 'second')[1])).toBeCloseTo(2, 9);
    expect(computeCorrectionFactor(measureRunsLevel(runs, 'first')[3])).toBeCloseTo(4, 9);
  });

  test('an arm without controls, and a control, have no structure of their own', () => {
    const { arms: all } = measureRunsStructure({
      base,
      arm: buildFoundRun(25),
      plain: buildFoundRun(11),
      'arm | order': base,
    });
    expect(all.map(({ structure }) => structure !== null)).toEqual([false, true, false, false]);
    expect(all.map(({ control }) => control)).toEqual([null, null, null, { of: 'arm', kind: 'order' }]);
  });

  test('a control of the baseline is compared with it', () => {
    const { arms: all } = measureRunsStructure({ base: buildFoundRun(25), 'base | order': base });
    expect(all[0]?.structure?.metrics[METRIC]).toMatchObject({
      survives: [],
      controls: { order: { verdict: 'better' } },
    });
  });

  test('without the baseline nothing survives', () => {
    const { arms: all } = measureRunsStructure({ arm: buildFoundRun(25), 'arm | order': buildFoundRun(25) });
    expect(all[0]?.structure?.survives).toEqual([]);
    expect(all[0]?.comparisons).toBeNull();
  });
});
