import { expect, test } from 'vitest';
import { html } from '../../../core/text/format.ts';
import type { ArmResult, ExperimentResult } from '../../measure/result.ts';
import { withFailedBaseline } from './failed-baseline.fixture.ts';
import { renderMarkdown } from './markdown.ts';
import { buildHandmadeResult } from './result.fixture.ts';
import { describeSurvivals, listStructureRows, renderStructureLegend, renderStructureTable } from './side-tables.ts';

/** The last arm has two controls; its gain in recall survives the second. */
function buildControlledResult(): ExperimentResult {
  const result = buildHandmadeResult();
  const [first, base, better] = result.arms as [ArmResult, ArmResult, ArmResult];
  const buildControlComparison = (mean: number, correctedP: number) => ({
    ...(better.comparisons as NonNullable<ArmResult['comparisons']>)['mrr@10']!,
    difference: { mean, low: mean - 0.02, high: mean + 0.02 },
    correctedP,
  });
  const structure = {
    survives: ['random-parents'],
    metrics: {
      'mrr@10': {
        survives: [],
        controls: {
          'permuted-order': buildControlComparison(0.1, 0.0004),
          'random-parents': buildControlComparison(0.05, 0.02),
        },
      },
      'recall@10': {
        survives: ['random-parents'],
        controls: {
          'permuted-order': buildControlComparison(0.07, 0.004),
          'random-parents': buildControlComparison(-0.001, 1),
        },
      },
    },
  };
  return { ...result, arms: [first, base, { ...better, structure }] };
}

test('a p close to the level has enough digits', () => {
  const result = buildControlledResult();
  const text = JSON.stringify(result).replaceAll('"correctedP":0.02', '"correctedP":0.0496');
  expect(listStructureRows(JSON.parse(text))[1]?.cells[0]?.text).toBe('+.050 [+.03, +.07], p .0496');
});

test('a row an arm and control', () => {
  expect(listStructureRows(buildControlledResult())).toEqual([
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
  expect(listStructureRows(buildHandmadeResult())).toEqual([]);
});

test('what a gain survives comes with the metrics where these are not all', () => {
  const { arms, metrics } = buildControlledResult();
  expect(arms.map((arm) => describeSurvivals(arm, metrics))).toEqual([[], [], ['random-parents (recall@10)']]);
  expect(describeSurvivals(arms[2] as ArmResult, ['recall@10'])).toEqual(['random-parents']);
});

test('the page has a sortable row of each, which is hidden with its arm', () => {
  const { text } = html`${renderStructureTable(buildControlledResult())}`;
  expect(text.match(/<tr data-arm="cosine">/g)).toHaveLength(2);
  expect(text).toContain('<td data-value="-0.001">−.001 [−.02, +.02], p 1.000, survives</td>');
});

test('what is said above the table says of which baseline, and that it failed', () => {
  const renderLegendText = (result: ExperimentResult) => html`${renderStructureLegend(result)}`.text;
  expect(renderLegendText(buildControlledResult())).toContain('The baseline is bm25.');
  expect(renderLegendText(withFailedBaseline(buildControlledResult()))).toContain(
    'The baseline is bm25, which failed.',
  );
});

test('Markdown has them as a table, where there are any', () => {
  const written = renderMarkdown(buildControlledResult());
  expect(written).toContain('Arms minus their null controls, with p:');
  expect(written).toMatch(/\| cosine \| random-parents \| .*p \.020 +\| .*p 1.000, survives +\|/);
  expect(written).toContain('* not due to structure: the gain of cosine survives random-parents (recall@10)');
  expect(renderMarkdown(buildHandmadeResult())).not.toContain('null controls');
});
