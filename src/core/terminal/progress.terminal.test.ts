import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { escapeControls } from './progress.ts';

test('what a terminal obeys is written out; lines, tabs and letters of any script stay', () => {
  expect(escapeControls('a\x1b[31mred\x1b[0m\x07')).toBe('a\\u001b[31mred\\u001b[0m\\u0007');
  expect(escapeControls('\x1b]0;title\x07\x9b2J\x7f')).toBe('\\u001b]0;title\\u0007\\u009b2J\\u007f');
  expect(escapeControls('gone\rnew')).toBe('gone\\u000dnew');
  expect(escapeControls('txt.\u202eexe')).toBe('txt.\\u202eexe');
  expect(escapeControls('one\n\ttwo — ▲ é 漢字 😀')).toBe('one\n\ttwo — ▲ é 漢字 😀');
});

test('JSON means the same afterwards', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 11 }), (codes) => {
      const text = String.fromCharCode(...codes);
      expect(JSON.parse(escapeControls(JSON.stringify({ [text]: text })))).toEqual({ [text]: text });
    }),
  );
});

test('nothing else of the program writes to a stream', () => {
  const source = join(import.meta.dirname, '..', '..');
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
    (name) => /\.ts$/.test(name) && !/\.(?:test|harness|fixture)\.ts$/.test(name),
  );
  const writers = files.filter((name) =>
    /process\.std(?:out|err)\s*\.write|console\.(?:log|error|warn|info)/.test(readFileSync(join(source, name), 'utf8')),
  );
  expect(writers).toEqual([join('core', 'terminal', 'progress.ts')]);
});
