import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const source = dirname(fileURLToPath(import.meta.url));

/** Files that apply a schema without the limits of `check` in core/validation/validation, each with the reason why they may. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'core/validation/validation.ts': 'holds `check`, which has measured the input',
  'model/turns/memory-fields.ts': 'a part of a schema, whose input `check` has measured',
  'data/documents/multihop.ts': 'a part of a schema, whose input `check` has measured',
  'kernel/service/key-file.ts': 'errors of `check` show values and unknown keys, and these may be secret keys',
  'rank/signals/bank/sessions.ts': 'options that the program chooses',
  'rank/signals/turn-concepts.ts': 'options that the program chooses',
  'model/text/times/time-reader.ts': 'the parser of dates, no schema',
  'data/mail/mail-message.ts': 'the parser of mails, no schema',
  'cli/program.ts': 'the parser of the command line, no schema',
};

/** Options that the code writes out, such as `({ index: 'flat' })`. */
const CONSTANT = /^\(\s*\{(?:\s*\w+: (?:'[^']*'|[\d.]+|true|false),?)*\s*\}\s*\)/;

/** The calls of `parse` and `safeParse` of schemas. */
function listDirectCalls(text: string): string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
  return [...code.matchAll(/(\w*)\s*\.\s*(?:safeParse|parse)(?:Async)?(?=\()/g)]
    .filter(([, receiver]) => !/^(?:JSON|Date)$/.test(receiver as string))
    .filter(({ 0: call, index }) => !CONSTANT.test(code.slice(index + call.length)))
    .map(([call]) => call);
}

const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.ts') && !/\.(?:test|fixture|cases|harness|oracle)\.ts$/.test(file));

test('what comes from outside meets its schema in core/validation/validation, which limits lists and texts', () => {
  const direct = files.filter((file) => listDirectCalls(readFileSync(join(source, file), 'utf8')).length > 0);
  expect(direct.filter((file) => !Object.hasOwn(EXCEPTIONS, file))).toEqual([]);
  expect(Object.keys(EXCEPTIONS).filter((file) => !direct.includes(file))).toEqual([]);
});

test.each([
  ['schema.parse(json)', 1],
  ['z.object({ a })\n  .safeParse(\n    json)', 1],
  ['await schema.parseAsync(json)', 1],
  ["schema.parse({ index, method: 'flat' })", 1],
  ["schema.parse({ index: 'flat', k: 10 })", 0],
  ['schema.parse({})', 0],
  ['JSON.parse(text); Date.parse(text); // schema.parse(x)', 0],
])('a call is found: %s', (code, count) => {
  expect(listDirectCalls(code)).toHaveLength(count);
});
