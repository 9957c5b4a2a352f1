import { expect, test } from 'vitest';
import type { ArmResult } from '../../measure/result.ts';
import { renderAttributionTable } from './attribution-table.ts';
import { buildHandmadeResult } from './result.fixture.ts';

test('a row per arm in the order of the fates, none for an arm without attribution', () => {
  const [worse, base, better] = buildHandmadeResult().arms as [ArmResult, ArmResult, ArmResult];
  const arms = [
    { ...worse, name: 'a', attribution: { fusion: 7, kept: 13 } },
    base,
    { ...better, name: 'b', attribution: { kept: 0 } },
  ];
  const { text } = renderAttributionTable(arms, ['kept', 'candidates', 'fusion']);
  const headings = [...text.matchAll(/<th .*?data-first="(\w+)".*?<button type="button">(.*?)<\/button>/g)];
  expect(headings.map(([, first, name]) => [name, first])).toEqual([
    ['arm', 'ascending'],
    ['kept', 'descending'],
    ['candidates', 'descending'],
    ['relevance', 'descending'],
  ]);
  const rows = [...text.matchAll(/<tr data-arm="(.*?)">(.*?)<\/tr>/g)];
  const parseLossCells = (row: string) => [...row.matchAll(/(?: data-value="(\d+)")?>([^<>]+)<\/td>/g)];
  expect(
    rows.map(([, arm, row = '']) => [arm, ...parseLossCells(row).map(([, value, shown]) => `${shown} by ${value}`)]),
  ).toEqual([
    ['a', 'a by undefined', '13 by 13', '0 by 0', '7 by 7'],
    ['b', 'b by undefined', '0 by 0', '0 by 0', '0 by 0'],
  ]);
});
