import { expect, test } from 'vitest';
import { renderPlainTable } from './plain-table.ts';

test('columns of words and of numbers, rows with and without an arm, cells that sort by another thing than they show', () => {
  const { text } = renderPlainTable({
    label: 'a "b"',
    headings: [
      { name: 'what', numeric: false },
      { name: 'how much', numeric: true },
      { name: 'p', numeric: true, first: 'ascending' },
    ],
    rows: [
      { arm: 'x & y', cells: [{ text: '<i>' }, { text: '.5', value: 0.4961 }, { text: '7' }] },
      { cells: [{ text: 'z' }, { text: '—' }, { text: '11' }] },
    ],
  });
  expect(text).toBe(`
<div class="wide" role="region" aria-label="a &quot;b&quot;" tabindex="0"><table class="sortable plain"><thead><tr>\
<th scope="col" data-first="ascending" class="word"><button type="button">what</button></th>\
<th scope="col" data-first="descending"><button type="button">how much</button></th>\
<th scope="col" data-first="ascending"><button type="button">p</button></th></tr></thead><tbody>
<tr data-arm="x &amp; y"><td class="word">&lt;i&gt;</td><td data-value="0.4961">.5</td><td>7</td></tr>
<tr><td class="word">z</td><td>—</td><td>11</td></tr></tbody></table></div>`);
});
