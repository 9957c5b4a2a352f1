import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cleanNotebook, formatNotebook } from './clean.ts';
import { compareOutputs, describeKind, findCellFaults, findLostOutputs, findOutputFaults } from './differences.ts';
import { listCodeCells, type Notebook, type Output, readNotebook } from './notebook.ts';

const PLOTLY = 'application/vnd.plotly.v1+json';

function write(...cells: readonly (readonly [code: string, ...outputs: Output[]])[]): Notebook {
  return {
    cells: cells.map(([source, ...outputs]) => ({ cell_type: 'code', source, outputs })),
    metadata: {},
    nbformat: 4,
    nbformat_minor: 5,
  };
}

const value = (data: Record<string, unknown>): Output => ({ output_type: 'execute_result', data });
const text = value({ 'text/plain': '1' });
const draw = (y: unknown) => value({ 'text/plain': 'figure', [PLOTLY]: { data: [{ y }], layout: {} } });

test('the kind of an output is its types, in any order, or the name of its stream', () => {
  expect(describeKind(value({ 'text/plain': 'a', 'text/html': 'b' }))).toBe('text/html + text/plain');
  expect(describeKind({ output_type: 'stream', name: 'stdout', text: 'x' })).toBe('stream stdout');
});

test('another value is no difference; another kind, and a missing output, are', () => {
  const committed = write(['a', text], ['b', text], ['c', draw([1])], ['d']);
  expect(
    compareOutputs(committed, write(['a', value({ 'text/plain': '2' })], ['b', text], ['c', draw([2])], ['d'])),
  ).toEqual([]);
  expect(compareOutputs(committed, write(['a'], ['b', draw([1])], ['c', draw([1])], ['d', text]))).toEqual([
    'cell 1 had text/plain, and has now no output',
    `cell 2 had text/plain, and has now ${PLOTLY} + text/plain`,
    'cell 4 had no output, and has now text/plain',
  ]);
});

test('errors, empty figures and missing values are faults', () => {
  const error: Output = { output_type: 'error', ename: 'TypeError', evalue: 'x is not a function' };
  expect(findOutputFaults(write(['a', text], ['const b = 1;'], ['c', draw([1, null])]))).toEqual([]);
  expect(findOutputFaults(write(['a', error], ['b', draw([])], ['c', draw([null])], ['d']))).toEqual([
    'cell 1 failed with TypeError: x is not a function',
    'cell 2 has a figure without a point',
    'cell 3 has a figure without a point',
    'cell 4 has no output of its value',
  ]);
});

test('an output is lost where the committed notebook has one, or the cell ends with a value', () => {
  const reference = write(['console.log(1);\nconst a = 1;', text], ['b'], ['const c = 1;']);
  expect(findLostOutputs(reference, write(['x'], ['b'], ['c']))).toEqual([1, 2]);
  expect(findLostOutputs(reference, write(['x', text], ['b', text], ['c']))).toEqual([]);
});

test('a cell of eleven lines is too long', () => {
  const lines = (count: number) => Array.from({ length: count }, (_, at) => `f(${at});`).join('\n');
  expect(findCellFaults(write([lines(10)], [lines(11)]))).toEqual([
    'cell 2 has 11 lines of logic; split it, 10 are allowed',
  ]);
});

test('a cleaned notebook has no times, colours or counts of its execution', () => {
  const executed: Notebook = {
    ...write(['a', value({ 'text/plain': '\u001b[33m1610\u001b[39m', 'text/html': '<p>\n</p>' })]),
    metadata: { widgets: {}, language_info: { version: '9' } },
  };
  const [cell] = executed.cells;
  const noisy = {
    ...executed,
    cells: [{ ...cell, execution_count: 7, metadata: { execution: { start: 'now' } } }],
  } as unknown as Notebook;
  const cleaned = cleanNotebook(noisy);
  expect(formatNotebook(cleaned)).not.toMatch(/\\u001b|now|widgets|"9"/);
  expect(cleaned.cells[0]).toMatchObject({
    execution_count: 1,
    outputs: [{ execution_count: 1, data: { 'text/html': ['<p>\n', '</p>'], 'text/plain': ['1610'] } }],
  });
  expect(cleanNotebook(cleaned)).toEqual(cleaned);
});

const folder = join(import.meta.dirname, '..');
const names = readdirSync(folder).filter((name) => name.endsWith('.ipynb'));

test('there are notebooks', () => {
  expect(names.length).toBeGreaterThanOrEqual(4);
});

describe.each(names)('%s', (name) => {
  const notebook = readNotebook(join(folder, name));

  test('is committed with the outputs of all its cells, short enough, and as the runner writes it', () => {
    expect(findCellFaults(notebook)).toEqual([]);
    expect(findOutputFaults(notebook)).toEqual([]);
    expect(cleanNotebook(notebook)).toEqual(notebook);
    expect(listCodeCells(notebook).length).toBeGreaterThan(3);
  });

  test('imports the package by its name, and no file of the project', () => {
    const imports = listCodeCells(notebook).flatMap(({ code }) =>
      [...code.matchAll(/from '([^']+)'/g)].map(([, from]) => from),
    );
    expect(imports.some((from) => from?.startsWith('rag-plusplus'))).toBe(true);
    expect(imports.filter((from) => from?.startsWith('.'))).toEqual([]);
  });
});
