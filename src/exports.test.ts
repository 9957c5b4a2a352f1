import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DOORS, importDoor, SOURCE as source } from './entry-points.harness.ts';

const read = (file: string) => readFileSync(join(source, file), 'utf8');

interface Manifest {
  readonly types: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}
const manifest = JSON.parse(read('../package.json')) as Manifest;
const { exclude } = JSON.parse(read('../tsconfig.build.json')) as { exclude: string[] };
const { paths } = (JSON.parse(read('../tsconfig.json')) as { compilerOptions: { paths: unknown } }).compilerOptions;

/** Bundles the scripts of the report from source. The built package reads the bundles that the build wrote. */
const BUNDLER = 'esbuild';

const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const built = files.filter((file) => !exclude.some((glob) => matchesGlob(glob, `src/${file}`)));

/** A glob of tsconfig: `**` for folders, `*` within a name. */
function matchesGlob(glob: string, path: string): boolean {
  const pattern = glob
    .replace(/[.+]/g, '\\$&')
    .replace('**/', '(?:.*/)?')
    .replace(/(?<!\.)\*/g, '[^/]*');
  return new RegExp(`^${pattern}$`).test(path);
}

function listSpecifiers(file: string): string[] {
  const text = read(file).replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  return [...text.matchAll(/(?<!')(?:(?<!\.)\bfrom|\bimport|\brequire|\bresolve)\s*\(?\s*'([^']+)'/g)].map(
    ([, found]) => found as string,
  );
}

/** What the entries import, directly and not. */
function listReachedModules(entries: readonly string[]): Set<string> {
  const seen = new Set<string>();
  const pending = [...entries];
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    const relative = listSpecifiers(file).filter((found) => found.startsWith('.'));
    pending.push(...relative.map((found) => normalize(join(dirname(file as string), found))));
  }
  return seen;
}

/** Every name, of a value or a type, that a file exports by a list. */
function listExportedNames(file: string): string[] {
  const lists = [...read(file).matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list]) =>
    (list as string).split(','),
  );
  const spaces = [...read(file).matchAll(/^export \* as (\w+)/gm)].map(([, name]) => name as string);
  return [...spaces, ...lists.map((name) => name.trim().replace(/^type /, '')).filter((name) => name !== '')];
}

const doors = [...DOORS.values()];
const namesByDoor = new Map([...DOORS].map(([door, file]) => [door, listExportedNames(file)]));
const parsePackageName = (specifier: string) =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

describe('entry points', () => {
  test('are ten, and package.json and tsconfig.json name the file of each', () => {
    const buildExportEntry = (file: string) => ({
      types: `./dist/${file.replace(/ts$/, 'd.ts')}`,
      import: `./dist/${file.replace(/ts$/, 'js')}`,
    });
    const expected = [...DOORS].map(([door, file]) => [door.replace('rag-plusplus', '.'), buildExportEntry(file)]);
    expect(manifest.exports).toEqual({ ...Object.fromEntries(expected), './package.json': './package.json' });
    expect(manifest.types).toBe('./dist/index.d.ts');
    expect(paths).toEqual(Object.fromEntries([...DOORS].map(([door, file]) => [door, [`./src/${file}`]])));
    expect(doors).toHaveLength(10);
  });

  test('are for users: inside, a file imports what defines a name', () => {
    expect(files.filter((file) => basename(file) === 'index.ts' && !doors.includes(file))).toEqual([]);
    const readers = files.filter((file) =>
      listSpecifiers(file).some(
        (found) => found.startsWith('.') && doors.includes(normalize(join(dirname(file), found))),
      ),
    );
    expect(readers).toEqual([]);
  });

  test('say name by name what they export, so that nothing is public by accident', () => {
    const wholesale = doors.filter((door) => /^export \* from|^export (?!type \{|\{|\* as)/m.test(read(door)));
    expect(wholesale).toEqual([]);
    for (const [door, names] of namesByDoor) expect(names.length, door).toBeGreaterThan(0);
  });

  test('a name is exported once', () => {
    const names = [...namesByDoor.values()].flat();
    expect(names.filter((name, i) => names.indexOf(name) < i)).toEqual([]);
  });

  test.each([...DOORS.keys()])('%s loads, with no value that its file does not name', async (door) => {
    const loaded = await importDoor(door);
    expect(Object.keys(loaded).filter((name) => loaded[name] === undefined)).toEqual([]);
    expect(namesByDoor.get(door)).toEqual(expect.arrayContaining(Object.keys(loaded)));
  });
});

describe('what is built', () => {
  test('is what the entry points and the programs reach: fixtures stay out, and nothing is left over', () => {
    const entries = [
      ...doors,
      join('cli', 'main.ts'),
      join('cli', 'work.ts'),
      join('core', 'decoding', 'decoder-process.ts'),
    ];
    expect([...listReachedModules(entries)].sort()).toEqual(built.sort());
    expect(manifest.bin).toEqual({ ragpp: 'dist/cli/main.js' });
    expect(read('cli/main.ts')).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  test('imports only packages that are installed with it, and package.json asks for no other', () => {
    const { dependencies, optionalDependencies, peerDependencies } = manifest;
    const imported = new Set(
      built
        .flatMap(listSpecifiers)
        .filter((found) => !/^\.|^\/|^node:/.test(found) && found !== BUNDLER)
        .map(parsePackageName),
    );
    const declared = { ...dependencies, ...optionalDependencies, ...peerDependencies };
    expect([...imported].filter((name) => !Object.hasOwn(declared, name))).toEqual([]);
    const text = built.map(read).join('\n');
    const unused = Object.keys(declared).filter((name) => !text.includes(`'${name}`) && !isPeer(name, imported));
    expect(unused).toEqual([]);
  });
});

/** True for a package that another one asks its user to install. */
function isPeer(name: string, imported: ReadonlySet<string>): boolean {
  return [...imported].some((user) => {
    const path = join(source, '..', 'node_modules', user, 'package.json');
    if (!existsSync(path)) return false;
    const { peerDependencies = {} } = JSON.parse(readFileSync(path, 'utf8')) as Partial<Manifest>;
    return Object.hasOwn(peerDependencies, name);
  });
}
