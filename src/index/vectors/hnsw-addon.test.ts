import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { isProgramFound } from '../../core/backends/external-program.ts';
import { installAddon, removeAddon } from '../../core/backends/install-addon.ts';
import { type AddonRecord, findAddon, loadAddon, locateAddon } from '../../core/backends/native-addon.ts';
import { ChecksumMismatchError, UnavailableError, ValidationError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { ignoreProgress } from '../../core/terminal/progress.ts';
import { describeCandidateIndex } from '../candidates/candidate-contract.harness.ts';
import { describeVisibility } from '../candidates/visibility-contract.harness.ts';
import { chooseLibrary, HNSWLIB, type HnswAddon, HnswIndex, type HnswLibrary, wrapAddon } from './hnsw.ts';
import { compareWithHnswlib } from './hnsw-proof.ts';
import { HnswVectorIndex } from './hnsw-vectors.ts';
import { readSavedIndex } from './saved-index.ts';
import { describeVectorIndex } from './vector-index-contract.harness.ts';
import { HNSW_DEFAULTS } from './vector-kind.ts';

const GRAPH = { ...HNSW_DEFAULTS, seed: 1 };
const root = mkdtempSync(join(tmpdir(), 'ragpp-hnsw-addon-'));
const canCompile = process.platform === 'linux' && process.arch === 'x64' && isProgramFound('c++');
const kept = join(root, 'kept');
let library: HnswLibrary;
let path: string;

const install = (prove = async () => {}) =>
  installAddon('hnsw', { progress: ignoreProgress, signal: new AbortController().signal, prove });

beforeAll(async () => {
  await useBackend('wasm');
  if (!canCompile) return;
  vi.stubEnv('RAGPP_CACHE', kept);
  await install();
  path = join(locateAddon('hnsw'), 'hnsw.node');
  library = wrapAddon(path);
  vi.unstubAllEnvs();
}, 300_000);
afterEach(() => void vi.unstubAllEnvs());
afterAll(() => rmSync(root, { recursive: true }));

test('the addon can be compiled here', ({ skip }) => {
  if (!canCompile) skip('needs Linux on x86-64 with c++: the addon of hnsw is not tested');
});

describe.runIf(canCompile)('addon of hnsw', () => {
  describeCandidateIndex('hnsw, by the addon', (turns) => new HnswIndex(turns, { ...HNSW_DEFAULTS, seed: 3 }, library));
  describeVisibility(
    'hnsw, by the addon, in its graph',
    (turns) => new HnswIndex(turns, { ...HNSW_DEFAULTS, efSearch: 13, seed: 3 }, library),
    0.03,
  );
  describeVectorIndex('hnsw, by the addon', async (distance, dimension, folder) => {
    const index = new HnswVectorIndex(readOptions(distance), dimension, library);
    if (folder !== undefined) await index.restore(await readSavedIndex(folder));
    return index;
  });

  test('by each set of instructions, graphs and answers have the bytes of hnswlib-node', async () => {
    const instructions = loadAddon<HnswAddon>('hnsw', path).listInstructions();
    expect(instructions.at(-1)).toBe('sse');
    for (const name of instructions)
      expect(await compareWithHnswlib(wrapAddon(path, name)), name).toEqual({ differences: [], graphs: 12 });
    expect(() => wrapAddon(path, 'mmx').create('ip', 3, 1, GRAPH)).toThrow('no such instructions here: mmx');
  });

  test('the comparison finds another graph and another answer', async () => {
    const reseeded: HnswLibrary = {
      ...library,
      create: (space, dimension, capacity, options) =>
        library.create(space, dimension, capacity, { ...options, seed: options.seed + 1 }),
    };
    const { differences } = await compareWithHnswlib(reseeded);
    expect(differences).toContain('ip, dimension 37: another graph');
    const narrow: HnswLibrary = {
      ...library,
      read: (space, dimension, file, options) => library.read(space, dimension, file, { ...options, efSearch: 1 }),
    };
    expect((await compareWithHnswlib(narrow)).differences).toContain(
      'l2, dimension 131: other answers of a graph that was read',
    );
  });

  test.each(['cosine', 'l2'] as const)('%s: each implementation opens what the other saved', async (distance) => {
    const [N, D] = [1511, 23];
    const rows = Array.from({ length: N }, (_, i) => {
      const stream = createRandom(i, 'rows');
      return { id: `row${i}`, vector: Float32Array.from({ length: D }, () => stream.drawNormal()) };
    });
    const query = Float32Array.from({ length: D }, (_, i) => Math.cos(i));
    const found = await Promise.all(
      [library, HNSWLIB].map(async (one, i) => {
        const index = new HnswVectorIndex(readOptions(distance), D, one);
        await index.upsert(rows);
        await index.remove(rows.slice(5, 300).map(({ id }) => id));
        const folder = join(root, `${distance}-${i}`);
        await index.save(folder);
        const reopened = new HnswVectorIndex(readOptions(distance), D, i === 0 ? HNSWLIB : library);
        await reopened.restore(await readSavedIndex(folder));
        return { files: readdirSync(folder), answers: [await index.search(query, 9), await reopened.search(query, 9)] };
      }),
    );
    expect(found[0]!.files.some((name) => name.startsWith('graph-'))).toBe(true); // with a hash of its bytes
    expect(found[0]).toEqual(found[1]);
    expect(found[0]!.answers[0]).toEqual(found[0]!.answers[1]);
  });

  test('what does not fit is an error, not a wrong graph', () => {
    const graph = library.create('ip', 3, 2, GRAPH);
    graph.add(Float32Array.of(1, 0, 0, 0, 1, 0, 0, 0, 1), Int32Array.of(4, 5, 6));
    expect(() => graph.add(Float32Array.of(1, 2, 3), Int32Array.of(5))).toThrow('The label is in the graph');
    expect(() => graph.add(Float32Array.of(1, 2), Int32Array.of(7))).toThrow('the rows do not fit the labels');
    expect(() => graph.add([1, 2, 3] as never, Int32Array.of(7))).toThrow('Invalid argument');
    expect(() => graph.search(new Float64Array(3) as never, 1)).toThrow('argument 0 has numbers of another type');
    expect(() => graph.search(new Float32Array(4), 1)).toThrow('the queries have another dimension');
    expect(() => graph.remove(9)).toThrow('Label not found');
    expect(graph.count()).toBe(3);
    const { labels } = graph.search(Float32Array.of(0, 1, 0.5, 1, 0, 0), 3, Uint8Array.of(0, 0, 0, 0, 1, 1));
    expect([...labels]).toEqual([5, 4, -1, 4, 5, -1]); // 6 lies beyond the list
  });

  test('a file of another dimension, or of no graph, is an error', async () => {
    const file = join(root, 'graph');
    const graph = library.create('l2', 3, 2, GRAPH);
    graph.add(Float32Array.of(1, 0, 0), Int32Array.of(0));
    await graph.write(file);
    expect(library.read('l2', 3, file, GRAPH).count()).toBe(1);
    expect(() => library.read('l2', 4, file, GRAPH)).toThrow('The file has vectors of another dimension');
    writeFileSync(file, readFileSync(file).subarray(0, 120));
    expect(() => library.read('l2', 3, file, GRAPH)).toThrow('Index seems to be corrupted or unsupported');
  });
});

const readOptions = (distance: 'cosine' | 'l2' | 'inner-product') =>
  ({ index: 'hnsw', preset: 'specification', seed: 1, distance }) as const;

describe.runIf(canCompile)('the installed addon', () => {
  const alter = (changes: Partial<AddonRecord>) => {
    const file = join(locateAddon('hnsw'), 'ragpp-backend.json');
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...changes }));
  };
  const copyAddon = () => {
    const cache = mkdtempSync(join(root, 'cache-'));
    cpSync(kept, cache, { recursive: true });
    vi.stubEnv('RAGPP_CACHE', cache);
  };

  test('is used where it is there, and hnswlib-node where it is not', async () => {
    vi.stubEnv('RAGPP_CACHE', join(root, 'none'));
    expect(findAddon('hnsw')).toEqual({ fault: 'not installed: ragpp backend install hnsw' });
    expect(chooseLibrary()).toBe(HNSWLIB);
    vi.stubEnv('RAGPP_CACHE', kept);
    expect(findAddon('hnsw')).toEqual({ path });
    expect(chooseLibrary()).not.toBe(HNSWLIB);
    await expect(install()).rejects.toThrow(ValidationError);
  });

  test('of another source or another hnswlib is not used, since it might compute something else', () => {
    copyAddon();
    alter({ library: '2.0.0' });
    expect(findAddon('hnsw')).toMatchObject({
      fault: expect.stringMatching(/^made with hnswlib-node 2\.0\.0, installed is /),
    });
    copyAddon();
    alter({ source: 'x' });
    expect(findAddon('hnsw')).toMatchObject({
      fault: expect.stringMatching(/^made from another version of its source: run /),
    });
    expect(chooseLibrary()).toBe(HNSWLIB);
  });

  test('that is damaged is an error that says what to do', () => {
    copyAddon();
    writeFileSync(join(locateAddon('hnsw'), 'hnsw.node'), 'no library');
    expect(chooseLibrary).toThrow(UnavailableError);
    expect(chooseLibrary).toThrow(/; run ragpp backend remove hnsw and ragpp backend install hnsw$/);
    writeFileSync(join(locateAddon('hnsw'), 'ragpp-backend.json'), '{');
    expect(chooseLibrary).toThrow(ChecksumMismatchError);
    expect([removeAddon('hnsw'), removeAddon('hnsw')]).toEqual([true, false]);
    expect(chooseLibrary()).toBe(HNSWLIB);
  });

  test('is not kept if the proof fails', async () => {
    vi.stubEnv('RAGPP_CACHE', join(root, 'failed'));
    const failing = install(() => Promise.reject(new Error('other graphs')));
    await expect(failing).rejects.toThrow('other graphs');
    expect(readdirSync(join(root, 'failed', 'backends'))).toEqual([]);
  });
});

test('without a compiler the error names it, and nothing is left', async ({ skip }) => {
  if (process.platform !== 'linux' || process.arch !== 'x64') skip('the addon is for Linux on x86-64');
  const cache = join(root, 'bare');
  mkdirSync(cache);
  vi.stubEnv('RAGPP_CACHE', cache);
  vi.stubEnv('PATH', cache);
  await expect(install()).rejects.toThrow(
    'backend hnsw is not available: not in PATH: c++; apt-get install build-essential',
  );
  expect(readdirSync(join(cache, 'backends'))).toEqual([]);
});
