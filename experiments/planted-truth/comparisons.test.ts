import { describe, expect, test } from 'vitest';
import { MECHANISMS } from './arms.ts';
import { compareMechanisms, countNullRejections } from './comparisons.ts';
import { drawPlantedFigure } from './figure.ts';
import type { PlantedCell } from './measure.ts';
import { plantedTruthSettings } from './settings.ts';
import { buildPlantedSections, formatPlantedCsv } from './tables.ts';

const QUERIES = 41;
const settings = plantedTruthSettings.parse({ samples: 999, dependencies: ['time'], strengths: [0, 0.5, 1] });

/** Values that differ from query to query. */
const base = Array.from({ length: QUERIES }, (_, q) => 0.2 + (q % 7) / 20);
const raise = (gain: number) => base.map((value, q) => value + gain * (1 + (q % 3)));

/** One arm gains with the strength, one loses at strength 1 alone, all others change nothing. */
function buildCell(strength: number): PlantedCell {
  const arms = MECHANISMS.map(({ name }): [string, number[]] => {
    if (name === 'time decay' || name.startsWith('decay +')) return [name, raise(strength / 10)];
    return [name, name === 'TPO' && strength === 1 ? raise(-0.05) : base];
  });
  return {
    dependency: 'time',
    strength,
    clusters: base.map((_, q) => `c${q}`),
    values: new Map([['bm25', base], ['cosine', base], ...arms]),
    oracle: base,
    hashes: ['h'],
  };
}

const cells = settings.strengths.map(buildCell);
const compared = compareMechanisms(cells, settings);
const find = (arm: string, strength: number) => compared.find((one) => one.arm === arm && one.strength === strength);

describe('comparisons', () => {
  test('have the difference of an arm from its base, and its verdict', () => {
    expect(compared).toHaveLength(3 * MECHANISMS.length);
    expect(find('time decay', 1)).toMatchObject({ verdict: 'better', base: 'bm25', queries: QUERIES });
    expect(find('time decay', 1)?.difference.mean).toBeCloseTo(0.1 * (1 + (13 * 1 + 13 * 2) / QUERIES), 1);
    expect(find('TPO', 1)?.verdict).toBe('worse');
    expect(find('TPO', 0.5)).toMatchObject({ verdict: 'undecided', p: 1 });
    expect(find('propagation, published', 1)?.base).toBe('cosine');
  });

  test('are corrected by Holm over all strengths above 0, and not at strength 0', () => {
    const planted = compared.filter(({ strength }) => strength > 0);
    const least = Math.min(...planted.map(({ p }) => p));
    const first = planted.find(({ p }) => p === least);
    expect(first?.correctedP).toBeCloseTo(least * planted.length, 12);
    for (const { strength, p, correctedP } of compared) if (strength === 0) expect(correctedP).toBe(p);
  });

  test('at strength 0 are counted as rejections of the null control', () => {
    const none = { tests: MECHANISMS.length, better: 0, worse: 0 };
    expect(countNullRejections(compared, 0.95)).toMatchObject(none);
    expect(countNullRejections(compared, 0.95).expected).toBeCloseTo(0.025 * MECHANISMS.length, 12);
    const moved = compared.map((one) => (one.arm === 'TPO' ? { ...one, verdict: 'worse' as const } : one));
    expect(countNullRejections(moved, 0.95)).toMatchObject({ ...none, worse: 1 });
  });
});

test('the table says from which strength on a mechanism recovers a dependency, or hurts', () => {
  const [, verdicts = '', , control] = buildPlantedSections(cells, compared, settings);
  expect(verdicts).toMatch(/^\| time decay +\| +bm25 \| recovers from \.5 \|$/m);
  expect(verdicts).toMatch(/^\| TPO +\| +bm25 \| +hurts from 1 \|$/m);
  expect(verdicts).toMatch(/^\| RCP, ring +\| +bm25 \| +does not \|$/m);
  expect(control).toContain('0 of 14 tests find an arm better and 0 worse at p < .05');
});

test('the csv has a row for each comparison, the figure a line for each mechanism and the possible gain', () => {
  const [head, ...rows] = formatPlantedCsv(compared).trim().split('\n');
  expect(rows).toHaveLength(compared.length);
  expect(head?.split(',')).toHaveLength(15);
  expect(rows[0]).toMatch(/^time,0,"time decay",bm25,41,/);
  const { data } = drawPlantedFigure(compared, settings);
  expect(data).toHaveLength(MECHANISMS.length + 1);
  expect(data.at(-1)).toMatchObject({ name: 'possible', x: [0, 0.5, 1] });
});
