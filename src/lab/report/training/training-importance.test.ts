import { expect, test } from 'vitest';
import { buildHandmadeFamily, buildHandmadeModel, buildHandmadeTraining } from '../tables/controls.fixture.ts';
import { formatImportanceMarkdown, renderImportanceSection } from './training-importance.ts';

const model = {
  ...buildHandmadeModel(0.5, 0.75),
  importance: [
    buildHandmadeFamily('bm25', -0.02),
    buildHandmadeFamily('asked & <named>', 0.005),
    buildHandmadeFamily('age', -0.25, 0.003),
  ],
};
const training = buildHandmadeTraining(model);
/** Losses of .001 to count thousandths, the least first. */
const buildManyFamilies = (count: number) =>
  Array.from({ length: count }, (_, at) => buildHandmadeFamily(`f${at}`, -(at + 1) / 1000));
const listFirstColumn = (table = '') =>
  table
    .split('\n')
    .slice(2)
    .map((row) => row.split('|')[1]?.trim());

test('Markdown has the family that is missed most first, marked where it is decided', () => {
  const [sentence, table] = formatImportanceMarkdown(training, model);
  expect(sentence).toMatch(/ Families: 3, by what is lost in recall@10\. Brackets: /);
  expect(table?.split('\n')).toEqual([
    '| without            | signals | recall@10                    |',
    '| ------------------ | ------- | ---------------------------- |',
    '| age                | 1       | −.250 [−.31, −.19], p .003 ▼ |',
    '| bm25               | 1       | −.020 [−.08, +.04], p .500   |',
    '| asked \\& \\<named\\> | 1       | +.005 [−.06, +.07], p .500   |',
  ]);
});

test.each([
  [15, 'Families: 15, by what is lost in recall@10.'],
  [16, 'Families: 16; these 15 are missed most in recall@10, all are in metrics.json.'],
])('of %i families the 15 greatest losses are shown', (count, end) => {
  const [sentence, table] = formatImportanceMarkdown(training, { ...model, importance: buildManyFamilies(count) });
  expect(sentence).toContain(`${end} Brackets: `);
  expect(listFirstColumn(table)).toEqual(Array.from({ length: 15 }, (_, at) => `f${count - 1 - at}`));
});

test('the page has every family, to three digits', () => {
  const text =
    renderImportanceSection(buildHandmadeTraining({ ...model, importance: buildManyFamilies(47) }))[0]?.content.text ??
    '';
  expect(text).toContain('the 40 of 47 families');
  expect(text.split('<tr>').length - 2).toBe(47);
  const cells = renderImportanceSection(training)[0]?.content.text.match(/<td[^>]*>[^<]*/g);
  expect(cells?.slice(-3)).toEqual([
    '<td class="word">age',
    '<td data-value="1">1',
    '<td data-value="-0.25">−.250 [−.313, −.188], p .003',
  ]);
});

test('models without families are left out', () => {
  const bare = { ...model, name: 'trajectory', importance: [] };
  expect(renderImportanceSection(buildHandmadeTraining(bare))).toEqual([]);
  expect(formatImportanceMarkdown(training, bare)).toEqual([]);
  const text = renderImportanceSection(buildHandmadeTraining(bare, model))[0]?.content.text;
  expect(text).toContain('Model linear');
  expect(text).not.toContain('Model trajectory');
});
