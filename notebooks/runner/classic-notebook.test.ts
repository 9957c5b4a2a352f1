import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listExpectedOutputs } from './classic-notebook.ts';
import { NOTEBOOKS } from './machine.ts';
import { type Cell, readNotebook } from './notebook.ts';

const show = (...types: string[]): Cell => ({
  cell_type: 'code',
  source: '',
  outputs: [{ output_type: 'execute_result', data: Object.fromEntries(types.map((type) => [type, ''])) }],
});

test('an output is expected in the form that the classic notebook prefers', () => {
  const text: Cell = { cell_type: 'markdown', source: '' };
  const cells = [text, show('text/plain', 'text/html'), show('text/plain', 'image/svg+xml'), show('text/plain')];
  expect(listExpectedOutputs({ cells, metadata: {}, nbformat: 4, nbformat_minor: 5 })).toEqual([
    { cell: 1, selector: '.output_html > *' },
    { cell: 2, selector: '.output_svg svg path' },
    { cell: 3, selector: '.output_text' },
  ]);
});

test('every output of the notebook with own chats is expected', () => {
  const notebook = readNotebook(join(NOTEBOOKS, '07-own-chats.ipynb'));
  const expected = listExpectedOutputs(notebook).map(({ cell }) => cell);
  expect(expected.length).toBeGreaterThan(5);
  expect(expected).toEqual(notebook.cells.flatMap(({ outputs = [] }, at) => outputs.map(() => at)));
});
