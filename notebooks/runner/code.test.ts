import { expect, test } from 'vitest';
import { countLogicLines, endsWithExpression, extractCode } from './code.ts';
import type { Notebook } from './notebook.ts';
import { locateMessage } from './types.ts';

const notebook: Notebook = {
  cells: [
    { cell_type: 'markdown', source: '# Title' },
    { cell_type: 'code', source: ["import { x } from 'y';\n", 'const a = x;'] },
    { cell_type: 'code', source: 'a + 1' },
  ],
  metadata: {},
  nbformat: 4,
  nbformat_minor: 5,
};

test('the cells become one module, whose lines are known by cell', () => {
  const { code, origins } = extractCode(notebook);
  expect(code.split('\n')).toEqual([
    '// cell 1',
    "import { x } from 'y';",
    'const a = x;',
    '// cell 2',
    'a + 1',
    'export {};',
    '',
  ]);
  expect(origins[2]).toEqual({ cell: 1, line: 2 });
  expect(origins[3]).toBeNull();
});

test('a message of the compiler names the cell and its line', () => {
  const modules = new Map([['01-a', extractCode(notebook)]]);
  const message = "notebooks/.cells/01-a.ts(5,1): error TS2365: '+' cannot be applied.";
  expect(locateMessage(message, modules)).toBe("01-a, cell 2, line 1: error TS2365: '+' cannot be applied.");
  expect(locateMessage('  a continuation', modules)).toBe('  a continuation');
});

test('imports, comments, empty lines and closing brackets are no logic', () => {
  const code = "import {\n  a,\n} from 'b';\n\n// why\nconst c = [\n  a,\n];\nc";
  expect(countLogicLines(code)).toBe(3);
});

test.each([
  ['const a = 1;\na', true],
  ['show(\n  a,\n);', true],
  ['const a = [\n  1,\n];', false],
  ["import { a } from 'b';", false],
  ['for (const a of b) {\n  c(a);\n}', false],
  ['await run();', true],
  ['a\n// and a comment', true],
])('%j ends with an expression: %j', (code, expected) => {
  expect(endsWithExpression(code)).toBe(expected);
});
