import { describe, expect, test } from 'vitest';
import { readModule } from './module-versions.ts';

const links = (text: string) => readModule(text).links.map(({ binding, specifier }) => `${binding} from ${specifier}`);

test.each([
  ['a comment', 'const a = 1;', '/** One. */ const a = /* here */ 1; // is one'],
  ['a line break', 'const a = 1 + 2;', 'const a =\n  1 +\n  2;\n\n'],
  ['Windows line ends', 'const a = 1;\nconst b = 2;', 'const a = 1;\r\nconst b = 2;'],
  ['a comma that ends a call', 'f(a, b);', 'f(\n  a,\n  b,\n);'],
  ['a comma that ends a list', 'f([a], { b });', 'f(\n  [\n    a,\n  ],\n  {\n    b,\n  },\n);'],
  ['a comma that ends type arguments', 'type A = Map<B, C>;', 'type A = Map<\n  B,\n  C,\n>;'],
  ['a bar before a union', "type A = 'a' | 'b';", "type A =\n  | 'a'\n  | 'b';"],
  ['a bar before a union that a value is cast to', 'f(a as B | null);', 'f(\n  a as\n    | B\n    | null,\n);'],
  ['what closes several lists of types', 'type A = B<C<D<E>>>;', 'type A = B<\n  C<D<E>>\n>;'],
  ['parentheses around what an arrow gives', 'f((a) => (a ? b : c));', 'f((a) =>\n  a\n    ? b\n    : c,\n);'],
  ['parentheses around what is returned', 'return a + b;', 'return (\n  a +\n  b\n);'],
  [
    'parentheses around an alternative',
    'f(a ? (b ? 1 : 2) : 3);',
    'f(\n  a\n    ? b\n      ? 1\n      : 2\n    : 3,\n);',
  ],
  ['parentheses in parentheses', 'return (a + 1) * b;', 'return (\n  ((a + 1) * b)\n);'],
  ['a semicolon that ends a type', 'type A = { a: 1; b: 2 };', 'type A = {\n  a: 1;\n  b: 2;\n};'],
  ['a line break before a division', 'const a = b! / c / d;', 'const a =\n  b! /\n  c /\n  d; // d is not 0'],
  ['a division of an element', 'a = b[0]! / f(c)! / d;', 'a = b[0]! / // by c\n  f(c)! / d;'],
  ['a line break in an interpolation', `f(\`a \${b + c} d\`);`, `f(\`a \${\n  b +\n  c} d\`);`],
  ['the order of imports', "import 'a';\nimport { b } from 'b';", "import { b } from 'b';\nimport 'a';"],
  ['the order of bindings', "import { a, b as c } from 'a';", "import {\n  b as c,\n  a,\n} from 'a';"],
  ['imports in parts', "import { a, b } from 'a';", "import { a } from 'a';\nimport { b } from 'a';"],
  ['an import of types', 'f();', "import type { A } from './a.ts';\nimport type B from 'b';\nf();"],
  ['a type among values', "import { a } from 'a';", "import { type B, a, type C as D } from 'a';"],
  ['a re-export of types', 'f();', "export type { A } from './a.ts';\nexport type * from './b.ts';\nf();"],
])('%s makes no difference', (_, text, other) => {
  const meaning = (source: string) => ({ ...readModule(source), links: [...new Set(links(source))].sort() });
  expect(meaning(other)).toEqual(meaning(text));
});

test.each([
  ['a token', 'const a = 1;', 'const a = 2;'],
  ['a name', 'const a = 1;', 'const b = 1;'],
  ['an operator', 'f(a + b);', 'f(a - b);'],
  ['white space in a string', "f('a b');", "f('a  b');"],
  ['what looks like a comment in a string', "f('a // b');", "f('a // c');"],
  ['white space in a template', `f(\`a \${b} c\`);`, `f(\`a \${b}  c\`);`],
  ['white space in a regular expression', 'f(/a b/);', 'f(/a  b/);'],
  ['a mark in a regular expression', 'f(/a!/);', 'f(/a/);'],
  ['a hole of an array', 'f([a, ,]);', 'f([a]);'],
  ['an array with nothing but a hole', 'f([,]);', 'f([]);'],
  ['parentheses around a part', 'return a * (b + c);', 'return a * b + c;'],
  ['parentheses around the first part', 'return (a + b) * c;', 'return a + b * c;'],
  ['parentheses around a list', 'f((a, b));', 'f(a, b);'],
  ['parentheses around an object', 'f(() => ({}));', 'f(() => {});'],
  ['parentheses of a call', 'a = b(c);', 'a = b;'],
  ['parentheses of a function without parameters', 'a = () => b;', 'a = b;'],
  ['the order of statements', 'f();\ng();', 'g();\nf();'],
  ['a line break after return', 'return a;', 'return\na;'],
  ['a line break before an increment', 'a\n++b', 'a++\nb'],
  ['what is joined without white space', 'a + +b;', 'a++ + b;'],
  ['a type', 'const a: string = b;', 'const a: number = b;'],
])('%s makes a difference', (_, text, other) => {
  expect(readModule(other).body).not.toBe(readModule(text).body);
});

test.each<[string, string[]]>([
  ["import 'a';", [' from a']],
  ["import a from 'b';", [' from b', 'import default as a from b']],
  ["import * as a from 'b';", [' from b', 'import * as a from b']],
  ["import a, { b } from 'c';", [' from c', 'import default as a from c', 'import b from c']],
  ["import {} from 'a';", [' from a']],
  ["import { type A } from 'a';", [' from a']],
  ["import type from 'a';", [' from a', 'import default as type from a']],
  ["import { type as a, type } from 'b';", [' from b', 'import type as a from b', 'import type from b']],
  ["import a from 'b.json' with { type: 'json' };", [' from b.json', 'import default as a from b.json']],
  ["export { a as b } from 'c';", [' from c', 'export a as b from c']],
  ["export * from 'a';", [' from a', 'export * from a']],
  ["export * as a from 'b';", [' from b', 'export * as a from b']],
  ["await import('./a.ts');", ['3 from ./a.ts']],
  ["new Worker(new URL('./a.ts', import.meta.url));", ['6 from ./a.ts']],
  ["new URL('./folder/', import.meta.url);", []],
  ["import type A from 'a';", []],
  ["export const a = 'from';\nconst b = 'c';", []],
  ["a.import('./b.ts').from('c');", []],
  ["export { a };\nconst b = { from: 'c' };", []],
  ["// import { a } from 'b';\nf(\"import 'c'\");", []],
])('the links of %s', (text, expected) => {
  expect(links(text)).toEqual(expected);
});

describe('the strings', () => {
  test('are those of the code and the specifiers of values', () => {
    const { strings } = readModule("import 'a';\nimport type { B } from 'b';\n// 'c'\nrequire('d');");
    expect([...strings]).toEqual(['a', 'd']);
  });
});
