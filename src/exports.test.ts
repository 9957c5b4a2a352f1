import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ENTRY_FOLDERS, SOURCE as source } from './entry-points.harness.ts';

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

/** Every name, of a value or a type, that a barrel exports. */
function listExportedNames(barrel: string): string[] {
  const lists = [...read(barrel).matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list]) =>
    (list as string).split(','),
  );
  const spaces = [...read(barrel).matchAll(/^export \* as (\w+)/gm)].map(([, name]) => name as string);
  return [...spaces, ...lists.map((name) => name.trim().replace(/^type /, '')).filter((name) => name !== '')];
}

const barrelOf = new Map([...ENTRY_FOLDERS].map(([name, folder]) => [name, join(folder, 'index.ts')]));
const namesByRoom = new Map([...barrelOf].map(([name, barrel]) => [name, listExportedNames(barrel)]));
const barrels = ['index.ts', ...barrelOf.values()];
const parsePackageName = (specifier: string) =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

describe('entry points', () => {
  test('every index.ts of src is one, and package.json names each of them', () => {
    const buildExportEntry = (barrel: string) => ({
      types: `./dist/${barrel.replace(/ts$/, 'd.ts')}`,
      import: `./dist/${barrel.replace(/ts$/, 'js')}`,
    });
    const expected = [...barrelOf].map(([name, barrel]) => [`./${name}`, buildExportEntry(barrel)]);
    expect(manifest.exports).toEqual({
      '.': buildExportEntry('index.ts'),
      ...Object.fromEntries(expected),
      './package.json': './package.json',
    });
    expect(manifest.types).toBe('./dist/index.d.ts');
    expect(files.filter((file) => basename(file) === 'index.ts').sort()).toEqual([...barrels].sort());
    expect(barrels.length).toBeGreaterThan(10);
  });

  test('each says name by name what it exports, so that nothing is public by accident', () => {
    const wholesale = barrels.filter((barrel) => /^export \* from/m.test(read(barrel)));
    expect(wholesale).toEqual([]);
    for (const [room, names] of namesByRoom) expect(names.length, room).toBeGreaterThan(0);
  });

  test('a name means one thing in all rooms', () => {
    const owners = new Map<string, string[]>();
    for (const [room, names] of namesByRoom)
      for (const name of names) owners.set(name, [...(owners.get(name) ?? []), room]);
    expect([...owners].filter(([, of]) => of.length > 1)).toEqual([]);
    // Plugins write the schemas of their options with the zod of this package.
    expect(listExportedNames('index.ts').filter((name) => !owners.has(name))).toEqual(['z']);
  });

  test.each([...namesByRoom.keys()])('%s loads, with no value that its barrel does not name', async (room) => {
    const loaded = (await import(join(source, barrelOf.get(room) as string))) as Record<string, unknown>;
    expect(Object.keys(loaded).filter((name) => loaded[name] === undefined)).toEqual([]);
    expect(namesByRoom.get(room)).toEqual(expect.arrayContaining(Object.keys(loaded)));
  });
});

describe('what is built', () => {
  test('is what the entry points and the programs reach: fixtures stay out, and nothing is left over', () => {
    const entries = [
      ...barrels,
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
