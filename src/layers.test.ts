import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

/**
 * The rooms of src in the order in which data flows, and the folders of each room in theirs. A folder imports only from
 * itself and from folders before it. The files of a room that are in none of its folders come last: they compose them.
 */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  core: [
    'errors',
    'values',
    'terminal',
    'text',
    'hash',
    'numbers',
    'validation',
    'display',
    'files',
    'tensors',
    'linear',
    'code',
    'decoding',
    'journal',
    'service',
    'backends',
  ],
  model: ['turns', 'filter', 'text', 'figures'],
  ops: ['trajectory', 'attention', 'conservation', 'fusion', 'pagerank', 'selection', 'bert', 'late'],
  eval: ['metrics', 'trec', 'intervals', 'significance', 'agreement'],
  data: ['prepared', 'jsonl', 'memory', 'mail', 'exports', 'documents', 'cast', 'irc', 'locomo', 'oasst', 'synthetic'],
  index: ['encoders', 'graph', 'candidates', 'vectors', 'words', 'late', 'walks', 'memories', 'runs'],
  kernel: ['signatures', 'policies', 'slices', 'authority', 'client', 'service'],
  rank: ['query', 'signals', 'rerank', 'learning', 'retrieval'],
  memory: [
    'outcomes',
    'store',
    'conservation',
    'facts',
    'changes',
    'retrievals',
    'removal',
    'engine',
    'curation',
    'patterns',
    'context',
    'client',
    'service',
  ],
  lab: [
    'judging',
    'composition',
    'plugins',
    'sweep',
    'launch',
    'config',
    'measure',
    'run',
    'stored',
    'training',
    'report',
    'verification',
    'workbench',
  ],
  cli: ['options', 'process', 'actions'],
};

const source = dirname(fileURLToPath(import.meta.url));

interface Import {
  readonly file: string;
  readonly target: string;
}

function listImports(file: string): string[] {
  const text = readFileSync(join(source, file), 'utf8');
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, specifier]) =>
    normalize(join(dirname(file), specifier as string)),
  );
}

const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => relative('.', file));

const isHelper = (file: string) => /\.(?:test|harness|fixture|cases|oracle)\.ts$/.test(file);
const readRoom = (file: string) => file.split(sep)[0] as string;
/** The folder of a file within its room; '' for a file of the room itself. */
const readFolder = (file: string) => (file.split(sep).length > 2 ? (file.split(sep)[1] as string) : '');
const rankRoom = (file: string) => Object.keys(ROOMS).indexOf(readRoom(file));
const rankFolder = (file: string) => [...(ROOMS[readRoom(file)] ?? []), ''].indexOf(readFolder(file));
const formatImport = ({ file, target }: Import) => `${file} -> ${target}`;

const roomFiles = files.filter((file) => file.includes(sep));
const imports: Import[] = roomFiles.flatMap((file) => listImports(file).map((target) => ({ file, target })));

test('the folders of src are rooms, and the folders of a room are in its order', () => {
  const found = new Map(Object.keys(ROOMS).map((room) => [room, new Set<string>()]));
  for (const file of roomFiles) {
    const folders = found.get(readRoom(file)) ?? found.set(readRoom(file), new Set()).get(readRoom(file));
    if (readFolder(file) !== '') folders?.add(readFolder(file));
  }
  const sorted = (entries: Iterable<readonly [string, Iterable<string>]>) =>
    Object.fromEntries([...entries].map(([room, folders]) => [room, [...folders].sort()]));
  expect(sorted(found)).toEqual(sorted(Object.entries(ROOMS)));
});

test('a room imports only from itself and from rooms before it', () => {
  const offending = imports.filter(({ file, target }) => rankRoom(target) > rankRoom(file));
  expect(offending.map(formatImport)).toEqual([]);
  expect(imports.length).toBeGreaterThan(50);
});

describe.each(Object.keys(ROOMS))('in %s', (room) => {
  /** Tests and their helpers may use all of their room: a source of data is loaded by the registry, as a config does. */
  test('a folder imports only from itself and from folders before it', () => {
    const inside = imports.filter(({ file, target }) => readRoom(file) === room && readRoom(target) === room);
    const offending = inside.filter(({ file, target }) => !isHelper(file) && rankFolder(target) > rankFolder(file));
    expect(offending.map(formatImport)).toEqual([]);
    expect(inside.length).toBeGreaterThan(5);
  });
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

test('only core/tensors/scope.ts calls tf.tidy, and nothing draws unseeded random numbers', () => {
  const forbidden = files
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) => {
      const text = readFileSync(join(source, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
      const found = [...text.matchAll(/\btf\.tidy\(|\bMath\.random\(|\btf\.random\w*\(/g)].map(
        ([call]) => `${file}: ${call}`,
      );
      return file === join('core', 'tensors', 'scope.ts') ? found.filter((call) => !call.includes('tf.tidy(')) : found;
    });
  expect(forbidden).toEqual([]);
});
