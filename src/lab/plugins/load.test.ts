import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { ConfigurationError, PluginError, UnavailableError } from '../../core/errors/errors.ts';
import { loadConfig, openConfig, resolveConfig } from '../config/config.ts';
import { runHash } from '../run/environment.ts';
import { identifyPlugin, uninstallPlugin } from './install.ts';
import { loadPlugin } from './load.ts';
import { findPluginPath, listInstalledPlugins } from './resolved-plugin.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-plugins-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => {
  for (const { name } of listInstalledPlugins()) uninstallPlugin(name);
});

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** A plugin as a module may export it without the package at hand. */
const writePlugin = (name: string, value: string, more = '') =>
  `${more}export default { name: '${name}', version: 1, metrics: [{ name: '${name}', description: 'd', compute: () => ${value} }] };\n`;

describe('loadPlugin', () => {
  test('imports a module once, and knows its path and its code', async () => {
    const path = write('once.mjs', writePlugin('once', '0'));
    const plugin = await loadPlugin(path);
    expect(await loadPlugin(path)).toBe(plugin);
    expect(findPluginPath(plugin)).toBe(path);
    const { hash } = identifyPlugin(plugin);
    write('once.mjs', writePlugin('once', '0', '// a comment changes nothing\n'));
    expect(identifyPlugin(plugin).hash).toBe(hash);
    write('once.mjs', writePlugin('once', '1'));
    await expect(loadPlugin(path)).rejects.toThrow(/module changed since this process imported it/);
  });

  test('states the fault of a definition that another copy of the package has refused', async () => {
    const copy = `${new URL('./plugin.ts', import.meta.url).href}?copy`;
    const faulty = `import { definePlugin } from '${copy}';\nexport default definePlugin({ name: 'Wrong Name', version: 1 });\n`;
    const loaded = loadPlugin(write('copy.mjs', faulty));
    await expect(loaded).rejects.toThrow(/name: expected lower-case letters, digits and hyphens/);
    await expect(loaded).rejects.not.toThrow('could not be imported');
  });

  test('covers the code that the module imports', async () => {
    write('value.mjs', 'export const value = 0;\n');
    const plugin = await loadPlugin(
      write('far.mjs', writePlugin('far', 'value', "import { value } from './value.mjs';\n")),
    );
    const { hash } = identifyPlugin(plugin);
    write('value.mjs', 'export const value = 1;\n');
    expect(identifyPlugin(plugin).hash).not.toBe(hash);
  });

  test.each([
    ['a missing file', 'none.mjs', null, UnavailableError, /no file is there/],
    [
      'a module that throws',
      'throws.mjs',
      "throw new Error('no luck');\n",
      PluginError,
      /could not be imported: no luck/,
    ],
    ['a module without a plugin', 'empty.mjs', 'export const a = 1;\n', PluginError, /no plugin as its default export/],
    [
      'a plugin with faults',
      'faulty.mjs',
      "export default { name: 'faulty', version: 1, metric: [] };\n",
      ConfigurationError,
      /did you mean metrics/,
    ],
  ])('refuses %s', async (_, name, text, kind, message) => {
    const path = text === null ? join(folder, name) : write(name, text);
    await expect(loadPlugin(path)).rejects.toThrow(kind);
    await expect(loadPlugin(path)).rejects.toThrow(message);
  });
});

describe('a config with plugins', () => {
  const writeConfig = (name: string, plugins: unknown, metric: string) =>
    write(
      name,
      JSON.stringify({
        name: 'sample',
        dataset: { name: 'jsonl', path: '.' },
        embedding: { encoder: 'lsa' },
        evaluation: { baseline: 'words', metrics: [metric] },
        arms: { words: [{ search: { bm25: {} } }] },
        plugins,
      }),
    );

  test('finds them beside its file, and records their code', async () => {
    const module = write('beside.mjs', writePlugin('beside', '0'));
    const config = await openConfig(writeConfig('beside.yaml', ['./beside.mjs'], 'beside@3'));
    expect(config.plugins).toEqual([
      { ...identifyPlugin(await loadPlugin(module)), module: expect.stringMatching(/beside\.mjs$/) },
    ]);
    const resolved = resolveConfig(structuredClone(config), 'resolved');
    expect(resolved.plugins).toEqual(config.plugins);
    const moved = { ...config, plugins: config.plugins?.map((plugin) => ({ ...plugin, module: 'elsewhere.mjs' })) };
    expect(runHash(moved, 'data', 'cpu')).toBe(runHash(config, 'data', 'cpu'));
    const other = { ...config, plugins: config.plugins?.map((plugin) => ({ ...plugin, hash: 'other' })) };
    expect(runHash(other, 'data', 'cpu')).not.toBe(runHash(config, 'data', 'cpu'));
  });

  test('adds those of the files that it extends and of its groups, each relative to the file that names it', async () => {
    mkdirSync(join(folder, 'parts/groups/evaluation'), { recursive: true });
    const grouped = 'evaluation: { metrics: [grouped@3] }\nplugins: [../../grouped.mjs]\n';
    write('parts/groups/evaluation/mine.yaml', grouped);
    write('parts/grouped.mjs', writePlugin('grouped', '0'));
    write('based.mjs', writePlugin('based', '0'));
    write('parts/own.mjs', writePlugin('own', '0'));
    writeConfig('base.yaml', ['./based.mjs'], 'based@3');
    const path = write(
      'parts/whole.yaml',
      'extends: ../base.yaml\ngroups: { evaluation: mine }\nplugins: [own.mjs, ../based.mjs]\ntuning: { metric: based@3 }\n',
    );
    const config = await openConfig(path);
    expect(config.plugins?.map(({ name }) => name)).toEqual(['based', 'grouped', 'own']);
    expect(config.evaluation.metrics).toEqual(['grouped@3']);
    expect(config.tuning.metric).toBe('based@3');
    const overridden = [
      `plugins=[${join(folder, 'parts/own.mjs')}]`,
      'evaluation.metrics=[own@2]',
      'tuning.metric=own@1',
    ];
    expect((await openConfig(path, overridden)).plugins?.map(({ name }) => name)).toEqual(['own']);
  });

  test('is an error where they are not installed, and where their code is another', async () => {
    const path = writeConfig('later.yaml', ['./later.mjs'], 'mrr@10');
    expect(() => loadConfig(path)).toThrow(/plugins\[0\]: expected a plugin that is installed/);
    const module = write('later.mjs', writePlugin('later', '0'));
    const entry = { name: 'later', version: '1', hash: 'another', module };
    await expect(openConfig(writeConfig('frozen.yaml', [entry], 'mrr@10'))).rejects.toThrow(/plugins\[0\]\.hash/);
    expect(() => loadConfig(writeConfig('wrong.yaml', 'later.mjs', 'mrr@10'))).toThrow(/plugins: expected array/);
  });
});
