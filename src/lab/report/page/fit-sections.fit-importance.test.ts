import { expect, test } from 'vitest';
import { buildHandmadeArms, buildHandmadeFamily, buildHandmadeTraining } from '../tables/controls.fixture.ts';
import { formatImportanceMarkdown, renderImportanceSection } from './fit-sections.ts';

const arms = buildHandmadeArms(0.5, 0.75);
const training = buildHandmadeTraining(arms, {
  importance: [
    buildHandmadeFamily('bm25', -0.02),
    buildHandmadeFamily('asked & <named>', 0.005),
    buildHandmadeFamily('age', -0.25, 0.003),
  ],
});
/** Losses of .001 to count thousandths, the least first. */
const buildManyFamilies = (count: number) =>
  Array.from({ length: count }, (_, at) => buildHandmadeFamily(`f${at}`, -(at + 1) / 1000));
const listFirstColumn = (table = '') =>
  table
    .split('\n')
    .slice(2)
    .map((row) => row.split('|')[1]?.trim());

test('Markdown has the family that is missed most first, marked where it is decided', () => {
  const [sentence, table] = formatImportanceMarkdown(training);
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
  const [sentence, table] = formatImportanceMarkdown(
    buildHandmadeTraining(arms, { importance: buildManyFamilies(count) }),
  );
  expect(sentence).toContain(`${end} Brackets: `);
  expect(listFirstColumn(table)).toEqual(Array.from({ length: 15 }, (_, at) => `f${count - 1 - at}`));
});

test('the page has every family, to three digits', () => {
  const text =
    renderImportanceSection(buildHandmadeTraining(arms, { importance: buildManyFamilies(47) }))[0]?.content.text ?? '';
  expect(text).toContain('the 40 of 47 families');
  expect(text.split('<tr>').length - 2).toBe(47);
  const cells = renderImportanceSection(training)[0]?.content.text.match(/<td[^>]*>[^<]*/g);
  expect(cells?.slice(-3)).toEqual([
    '<td class="word">age',
    '<td data-value="1">1',
    '<td data-value="-0.25">−.250 [−.313, −.188], p .003',
  ]);
});

test('without families nothing is shown', () => {
  const bare = buildHandmadeTraining(arms);
  expect(renderImportanceSection(bare)).toEqual([]);
  expect(formatImportanceMarkdown(bare)).toEqual([]);
});
