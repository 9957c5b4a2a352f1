import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { computeHash } from '../../core/hash/hash.ts';
import type { Plain } from '../composition/config-file.ts';
import { loadConfig, resolveConfig } from './config.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-run-references-'));
afterAll(() => rmSync(root, { recursive: true }));
mkdirSync(join(root, 'runs'));
const content = 'q1 Q0 t1 1 2 theirs\n';
const file = join(root, 'runs', 'theirs.trec');
writeFileSync(file, content);

const own = { candidates: [{ index: 'newest' }], relevance: { signals: ['recency'] } };

function buildConfig(...arms: Plain[]): Plain {
  return {
    name: 'external',
    dataset: { name: 'spamassassin-threads' },
    embedding: { encoder: 'lsa' },
    evaluation: { baseline: 'newest', metrics: ['mrr@10'] },
    arms: [{ name: 'newest', ...own }, ...arms],
  };
}

const resolve = (...arms: Plain[]) =>
  resolveConfig(buildConfig(...arms), 'test').arms.map(({ candidates, relevance: { signals }, decay }) => ({
    candidates,
    signals,
    decay,
  }));
const source = { index: 'run', path: file, k: 1000, hash: computeHash(Buffer.from(content)) };

describe('run of an arm', () => {
  test('is its source and its signal, with the hash of the content', () => {
    expect(resolve({ name: 'theirs', run: file })[1]).toEqual({ candidates: [source], signals: ['run'], decay: null });
    expect(resolve({ name: 'theirs', run: { file, k: 7 } })[1]?.candidates).toEqual([{ ...source, k: 7 }]);
  });

  test('is passed on, until an arm writes sources of its own', () => {
    const arms = resolve(
      { name: 'theirs', run: file },
      { name: 'decayed', extends: 'theirs', decay: {} },
      { name: 'both', extends: 'theirs', candidates: [{ index: 'newest' }, { index: 'run', path: file }] },
      { name: 'other', extends: 'theirs', run: null, ...own },
    );
    expect(arms[2]).toEqual({ candidates: [source], signals: ['run'], decay: { halfLifeHours: 24 } });
    expect(arms[3]?.candidates.map(({ index }) => index)).toEqual(['newest', 'run']);
    expect(arms[3]?.signals).toEqual(['run']);
    expect(arms[4]?.candidates.map(({ index }) => index)).toEqual(['newest']);
  });

  test('is looked for beside the config, and a resolved config resolves to itself', () => {
    const path = join(root, 'external.yaml');
    writeFileSync(path, JSON.stringify(buildConfig({ name: 'theirs', run: 'runs/theirs.trec' })));
    const config = loadConfig(path);
    expect(config.arms[1]?.candidates).toEqual([source]);
    expect(resolveConfig(structuredClone(config) as unknown as Plain, 'again')).toEqual(config);
  });

  test.each([
    [{ run: 'none.trec' }, /arms\[1\]\.run: expected a run file \(.*none\.trec.*\), got "none\.trec"/],
    [{ run: { path: file } }, /arms\[1\]\.run: expected a run file, or \{ file, k \}, got \{"path"/],
    [{ run: file, ...own }, /arms\[1\]\.run: expected no run beside candidates and relevance/],
    [
      { candidates: [{ index: 'run', path: 'none.trec' }], relevance: { signals: ['run'] } },
      /arms\[1\]\.candidates\[0\]\.path: expected a run file/,
    ],
    [
      { ...own, relevance: { signals: ['run'] } },
      /expected one source with index run, whose scores are the signal run/,
    ],
  ])('%j is refused', (arm, message) => {
    expect(() => resolve({ name: 'theirs', ...arm })).toThrow(message);
  });
});

describe('the file of concepts of a source', () => {
  const concepts = join(root, 'runs', 'concepts.jsonl');
  writeFileSync(concepts, 'any');
  const graph = { index: 'graph', concepts: { file: 'runs/concepts.jsonl' } };
  const arm = { name: 'graph', candidates: [{ index: 'newest' }, graph], relevance: { signals: ['graph'] } };

  test('is looked for beside the config, and is resolved with the hash of its content', () => {
    const path = join(root, 'concepts.yaml');
    writeFileSync(path, JSON.stringify(buildConfig(arm)));
    const config = loadConfig(path);
    expect(config.arms[1]?.candidates[1]).toMatchObject({
      concepts: { file: concepts, hash: computeHash(Buffer.from('any')) },
    });
    expect(resolveConfig(structuredClone(config) as unknown as Plain, 'again')).toEqual(config);
  });

  test.each([
    [{}, /arms\[1\]\.candidates\[1\]\.concepts\.file: expected a file of concepts \(.*got "runs\/concepts\.jsonl"/],
    [{ concepts: { path: 'x' } }, /arms\[1\]\.candidates\[1\]\.concepts/],
    [
      { concepts: 'names', edges: { relation: 1 } },
      /candidates\[1\]\.edges\.relation: expected 0 without triples; set/,
    ],
  ])('%j is refused', (given, message) => {
    const candidates = [{ index: 'newest' }, { ...graph, ...given }];
    expect(() => resolve({ ...arm, candidates })).toThrow(message);
  });
});
