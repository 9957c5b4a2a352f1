import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ColumnReader, createTextSource, LONGEST_LINE, listLines, peekBrace, splitLines } from './text-lines.ts';

interface ReadLine {
  readonly where: string;
  readonly fields: readonly string[];
  readonly numbers: readonly number[];
}

function readColumns(text: string, width: number): ReadLine[] {
  const columns = [...Array(width).keys()];
  const read: ReadLine[] = [];
  for (const lines = new ColumnReader(createTextSource(text), 'x', width); lines.next(); ) {
    const fields = columns.map((column) => lines.get(column));
    for (const [column, field] of fields.entries()) {
      expect(lines.has(column, field)).toBe(true);
      expect(lines.has(column, `${field}a`) || lines.has(column, field.slice(1))).toBe(false);
    }
    read.push({ where: lines.where, fields, numbers: columns.map((column) => lines.getNumber(column)) });
  }
  return read;
}

/** The same by strings: lines without white space around them, divided at spaces and tabs. */
function listColumns(text: string, width: number): ReadLine[] | string {
  const read: ReadLine[] = [];
  for (const { where, text: line } of splitLines(text, 'x')) {
    const fields = line.trim().split(/[ \t]+/);
    if (fields[0] === '') continue;
    if (fields.length !== width)
      return `expected ${width} columns at ${where}, got ${fields.length}: ${fields.join(' ')}; correct the line`;
    read.push({ where, fields, numbers: fields.map(Number) });
  }
  return read;
}

test('lines with fewer columns are read where they are asked for', () => {
  const lines = new ColumnReader(createTextSource('a b c\n\nd e f g\né i\u00a0 j\nk l\n'), 'x', 4, 3);
  const read: string[][] = [];
  const readAll = () => {
    while (lines.next()) read.push(Array.from({ length: lines.columns }, (_, column) => lines.get(column)));
  };
  expect(readAll).toThrow(/^expected 4 columns at x:5, got 2: k l; correct the line$/);
  expect(read).toEqual([
    ['a', 'b', 'c'],
    ['d', 'e', 'f', 'g'],
    ['é', 'i\u00a0', 'j'],
  ]);
});

test.each([
  ['', false],
  ['{"a": 1}', true],
  ['\ufeff \n\t{', true],
  ['a {', false],
  [`${' '.repeat(70_001)}{`, false],
])('looking at the first character takes no byte: %#', (text, isBrace) => {
  const peeked = peekBrace(createTextSource(text));
  expect(peeked.isBrace).toBe(isBrace);
  const lines = Array.from(listLines(peeked.read, { source: 'x' }));
  expect(lines).toEqual([...splitLines(text, 'x')]);
});

const catchMessage = (read: () => unknown) => {
  try {
    return read();
  } catch (error) {
    return (error as Error).message;
  }
};

const piece = fc.constantFrom(
  'a',
  'q1',
  '0.25',
  '-1',
  '.5',
  '1e-7',
  'é',
  '😀',
  '\u00a0',
  '\u000b',
  '\ufeff',
  '\u007f',
  ' ',
  ' ',
  '\t',
  '\r',
  '\r\n',
  '\n',
  '\n',
);

test('columns of any text are those of its lines, or the first line that differs is named', () => {
  const text = fc.array(piece, { maxLength: 24 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 3 }), (drawn, width) => {
      expect(catchMessage(() => readColumns(drawn, width))).toEqual(listColumns(drawn, width));
    }),
    { numRuns: 3000, seed: 1 },
  );
});

test('lines of the right number of columns have them', () => {
  const column = fc.constantFrom('a', 'doc-7', '12', '-0.5', 'é', 'x\u007f');
  const space = fc.constantFrom(' ', '\t', '  ');
  const line = fc.tuple(column, space, column, space, column, fc.constantFrom('\n', '\r\n', ' \n\n'));
  fc.assert(
    fc.property(fc.array(line.map((parts) => parts.join(''))), (lines) => {
      const text = lines.join('');
      expect(readColumns(text, 3)).toHaveLength(lines.length);
      expect(readColumns(text, 3)).toEqual(listColumns(text, 3));
    }),
    { seed: 2 },
  );
});

test('numbers are those of JavaScript, to the last bit', () => {
  const digits = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 20 }).map((all) => all.join(''));
  const decimal = fc
    .tuple(fc.constantFrom('', '-', '+'), digits, fc.constantFrom('', '.'), digits)
    .map((all) => all.join(''));
  const odd = fc.constantFrom(
    '.',
    '-',
    '-.',
    '1.',
    '.5',
    '1.2.3',
    '--1',
    '0x1f',
    '1e5',
    'NaN',
    'Infinity',
    '-0',
    '00',
    '1_0',
    '1/2',
  );
  fc.assert(
    fc.property(fc.oneof(decimal, odd, fc.double().map(String)), (text) => {
      const [line] = readColumns(text, 1);
      expect(line!.numbers[0]).toBe(Number(text));
    }),
    { numRuns: 3000, seed: 3 },
  );
});

test('a line that is too long is refused, with what was read of it', () => {
  const lines = new ColumnReader(createTextSource(`a\n${'b'.repeat(LONGEST_LINE + 1)}`), 'x', 1);
  lines.next();
  expect(() => lines.next()).toThrow(
    /^line at x:2 is too long: expected at most 67,108,864 bytes, got 67,108,865 or more; end each row/,
  );
});
