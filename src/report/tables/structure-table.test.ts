import { expect, test } from 'vitest';
import type { ArmResult, ExperimentResult } from '../../experiment/measure/result.ts';
import { html } from '../page/markup.ts';
import { withFailedBaseline } from './failed-baseline.fixture.ts';
import { renderMarkdown } from './markdown.ts';
import { handmadeResult } from './result.fixture.ts';
import { structureLegend, structureRows, structureTable, survivals } from './structure-table.ts';

/** The last arm has two controls; its gain in recall survives the second. */
function controlledResult(): ExperimentResult {
  const result = handmadeResult();
  const [first, base, better] = result.arms as [ArmResult, ArmResult, ArmResult];
  const against = (mean: number, correctedP: number) => ({
    ...(better.comparisons as NonNullable<ArmResult['comparisons']>)['mrr@10']!,
    difference: { mean, low: mean - 0.02, high: mean + 0.02 },
    correctedP,
  });
  const structure = {
    survives: ['random-parents'],
    metrics: {
      'mrr@10': {
        survives: [],
        controls: { 'permuted-order': against(0.1, 0.0004), 'random-parents': against(0.05, 0.02) },
      },
      'recall@10': {
        survives: ['random-parents'],
        controls: { 'permuted-order': against(0.07, 0.004), 'random-parents': against(-0.001, 1) },
      },
    },
  };
  return { ...result, arms: [first, base, { ...better, structure }] };
}

test('a p close to the level has enough digits', () => {
  const result = controlledResult();
  const text = JSON.stringify(result).replaceAll('"correctedP":0.02', '"correctedP":0.0496');
  expect(structureRows(JSON.parse(text))[1]?.cells[0]?.text).toBe('+.050 [+.03, +.07], p .0496');
});

test('a row an arm and control', () => {
  expect(structureRows(controlledResult())).toEqual([
    {
      arm: 'cosine',
      control: 'permuted-order',
      cells: [
        { difference: 0.1, text: '+.100 [+.08, +.12], p <.001' },
        { difference: 0.07, text: '+.070 [+.05, +.09], p .004' },
      ],
    },
    {
      arm: 'cosine',
      control: 'random-parents',
      cells: [
        { difference: 0.05, text: '+.050 [+.03, +.07], p .020' },
        { difference: -0.001, text: '−.001 [−.02, +.02], p 1.000, survives' },
      ],
    },
  ]);
  expect(structureRows(handmadeResult())).toEqual([]);
});

test('what a gain survives comes with the metrics where these are not all', () => {
  const { arms, metrics } = controlledResult();
  expect(arms.map((arm) => survivals(arm, metrics))).toEqual([[], [], ['random-parents (recall@10)']]);
  expect(survivals(arms[2] as ArmResult, ['recall@10'])).toEqual(['random-parents']);
});

test('the page has a sortable row of each, which is hidden with its arm', () => {
  const { text } = html`${structureTable(controlledResult())}`;
  expect(text.match(/<tr data-arm="cosine">/g)).toHaveLength(2);
  expect(text).toContain('<td data-value="-0.001">−.001 [−.02, +.02], p 1.000, survives</td>');
});

test('what is said above the table says of which baseline, and that it failed', () => {
  const said = (result: ExperimentResult) => html`${structureLegend(result)}`.text;
  expect(said(controlledResult())).toContain('The baseline is bm25.');
  expect(said(withFailedBaseline(controlledResult()))).toContain('The baseline is bm25, which failed.');
});

test('Markdown has them as a table, where there are any', () => {
  const written = renderMarkdown(controlledResult());
  expect(written).toContain('Arms minus their null controls, with p:');
  expect(written).toMatch(/\| cosine \| random-parents \| .*p \.020 +\| .*p 1.000, survives +\|/);
  expect(written).toContain('* not due to structure: the gain of cosine survives random-parents (recall@10)');
  expect(renderMarkdown(handmadeResult())).not.toContain('null controls');
});
