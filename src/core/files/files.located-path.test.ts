import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { locatePath } from './files.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-located-'));
afterAll(() => rmSync(root, { recursive: true }));
mkdirSync(join(root, 'configs'));
writeFileSync(join(root, 'data.json'), '');
const configs = join(root, 'configs');

test.each([
  ['beside the file', 'data.json', root, join(root, 'data.json')],
  ['above the file', '../data.json', configs, join(root, 'data.json')],
  ['in the working directory where it is not beside the file', 'package.json', configs, 'package.json'],
  ['in the working directory where no file wrote it', 'data.json', null, 'data.json'],
  ['where it says, if it is absolute', join(root, 'x'), configs, join(root, 'x')],
])('a path is looked for %s', (_, path, folder, expected) => {
  expect(locatePath(path, folder)).toBe(expected);
});

test('what is beside the file goes before what is in the working directory', () => {
  writeFileSync(join(configs, 'package.json'), '');
  expect(locatePath('package.json', configs)).toBe(join(configs, 'package.json'));
});
