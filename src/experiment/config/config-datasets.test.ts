import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ConfigurationError } from '../../core/errors.ts';
import { findUsedDataFolder } from '../../datasets/data-folder.ts';
import { least } from './config.fixture.ts';
import { listConfigDatasets, loadConfig } from './config.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-datasets-'));
afterAll(() => rmSync(folder, { recursive: true }));
const path = join(folder, 'several.yaml');
const { dataset: _, ...others } = least;
const datasets = { mail: { name: 'spamassassin-threads' }, own: { name: 'jsonl', path: 'data' } };
writeFileSync(path, JSON.stringify({ ...others, datasets }));
mkdirSync(join(folder, 'data'));

describe('a config with several datasets', () => {
  test('is an experiment for each, named after both', () => {
    expect(listConfigDatasets(path)).toEqual(['mail', 'own']);
    const config = loadConfig(path, ['seed=7'], 'mail');
    expect(config).toMatchObject({ name: 'least-mail', seed: 7, dataset: { name: 'spamassassin-threads' } });
    expect(config).not.toHaveProperty('datasets');
  });

  test('finds the data of each beside the config', () => {
    expect(findUsedDataFolder(loadConfig(path, [], 'own').dataset)).toBe(folder);
  });

  test.each([
    [null, 'datasets: expected a choice of one (mail, own), got none; add --dataset NAME, or use ragpp run'],
    ['mial', /datasets: expected .*mail.*, got "mial"/],
  ])('chosen as %j is refused', (chosen, message) => {
    expect(() => loadConfig(path, [], chosen)).toThrow(ConfigurationError);
    expect(() => loadConfig(path, [], chosen)).toThrow(message);
  });
});

test('a config of one dataset has no choice', () => {
  const single = join(folder, 'single.yaml');
  writeFileSync(single, JSON.stringify(least));
  expect(listConfigDatasets(single)).toBeNull();
  expect(() => loadConfig(single, [], 'mail')).toThrow(
    'expected datasets, of which mail is one, got nothing; leave out',
  );
});
