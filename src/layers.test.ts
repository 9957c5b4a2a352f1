import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/** The rooms in the order in which data flows: a folder imports only from itself and from folders before it. */
const ROOMS = [
  'core',
  'model',
  'datasets',
  'text',
  'embedding',
  'trajectory',
  'attention',
  'graph',
  'candidates',
  'conservation',
  'fusion',
  'admissibility',
  'query',
  'signals',
  'rerank',
  'memory',
  'context',
  'retrieval',
  'evaluation',
  'learning',
  'experiment',
  'training',
  'report',
  'verification',
  'workbench',
  'cli',
]; // prettier-ignore

const source = dirname(fileURLToPath(import.meta.url));

function listImports(file: string): string[] {
  const text = readFileSync(join(source, file), 'utf8');
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, specifier]) =>
    normalize(join(dirname(file), specifier as string)),
  );
}

const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => relative('.', file));

const readRoom = (file: string) => file.split(sep)[0] as string;

test('every folder of src is a room', () => {
  const rooms = new Set(files.filter((file) => file.includes(sep)).map(readRoom));
  expect([...rooms].filter((room) => !ROOMS.includes(room))).toEqual([]);
  expect(rooms.size).toBeGreaterThan(10);
});

test('a room imports only from itself and from rooms before it', () => {
  const edges = files
    .filter((file) => file.includes(sep))
    .flatMap((file) => listImports(file).map((target) => ({ file, target })));
  const offending = edges.filter(({ file, target }) => ROOMS.indexOf(readRoom(target)) > ROOMS.indexOf(readRoom(file)));
  expect(offending.map(({ file, target }) => `${file} -> ${target}`)).toEqual([]);
  expect(edges.length).toBeGreaterThan(50);
});

test('no file imports itself through others, types included', () => {
  const imports = new Map(files.map((file) => [file, listImports(file)]));
  /** Files that a walk has left: none of them leads back to one that it is still in. */
  const left = new Set<string>();
  const cycles: string[] = [];
  const walk = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file);
    if (start >= 0) cycles.push([...path.slice(start), file].join(' -> '));
    if (start >= 0 || left.has(file)) return;
    for (const target of imports.get(file) ?? []) walk(target, [...path, file]);
    left.add(file);
  };
  for (const file of files) walk(file, []);
  expect(cycles).toEqual([]);
});

test('only core/scope.ts calls tf.tidy, and nothing draws unseeded random numbers', () => {
  const forbidden = files
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) => {
      const text = readFileSync(join(source, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
      const found = [...text.matchAll(/\btf\.tidy\(|\bMath\.random\(|\btf\.random\w*\(/g)].map(
        ([call]) => `${file}: ${call}`,
      );
      return file === join('core', 'scope.ts') ? found.filter((call) => !call.includes('tf.tidy(')) : found;
    });
  expect(forbidden).toEqual([]);
});
