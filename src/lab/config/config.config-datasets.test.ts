import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ConfigurationError } from '../../core/errors/errors.ts';
import { findUsedDataFolder } from '../../data/prepared/prepared.ts';
import { composeFiles } from '../composition/config-composition.ts';
import { least, listResolveFaults, plain } from './config.fixture.ts';
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
    expect(listConfigDatasets(composeFiles(path))).toEqual(['mail', 'own']);
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

  test('is checked with all of its datasets, whichever is chosen, at the line of each', () => {
    const wrong = join(folder, 'wrong.yaml');
    const { arms, evaluation, embedding } = least;
    const rest = JSON.stringify({ arms, evaluation, embedding }).slice(1, -1);
    writeFileSync(
      wrong,
      `{ name: wrong,\n datasets: {\n  mail: { name: spamassassin-threads, pth: 3 },\n  own: { name: jsonl, path: 3 },\n  A b: { name: irc, path: x } },\n ${rest} }`,
    );
    for (const chosen of ['mail', 'own'])
      expect(() => loadConfig(wrong, [], chosen)).toThrow(
        expect.objectContaining({
          message: expect.stringMatching(
            /datasets\.mail\.pth: .*\(.*:3\)\n.*datasets\.own\.path: expected string, got 3 \(.*:4\)\n.*datasets\.A b: expected a key of lower-case letters, digits and hyphens, got "A b" \(.*:5\)$/,
          ),
        }),
      );
  });

  test('is not changed by an override of another dataset than its own', () => {
    expect(loadConfig(path, ['datasets.own.onDirtyRow=skip'], 'own').dataset).toMatchObject({ onDirtyRow: 'skip' });
    expect(() => loadConfig(path, ['dataset.path=x'], 'own')).toThrow(
      'dataset.path (--set): expected a dataset by its name, such as datasets.mail.path, got no name',
    );
  });

  test('has at least one', () => {
    expect(() => loadConfig(path, ['datasets={}'], 'own')).toThrow('datasets (--set): expected at least one dataset');
  });
});

test('a config of one dataset has no choice', () => {
  const single = join(folder, 'single.yaml');
  writeFileSync(single, JSON.stringify(least));
  expect(listConfigDatasets(composeFiles(single))).toBeNull();
  expect(() => loadConfig(single, [], 'mail')).toThrow(
    'expected datasets, of which mail is one, got nothing; leave out',
  );
});

test('an arm has no dataset of its own', () => {
  const message =
    'arms.plain.dataset: expected no dataset in an arm; list several in datasets, or in a sweep, got "dataset"';
  expect(listResolveFaults({ arms: { plain: { steps: plain, dataset: { name: 'irc' } } } })).toEqual([message]);
});

describe('the factor dataset of a sweep', () => {
  const swept = join(folder, 'swept.yaml');
  const arms = { plain: [...plain, { decay: {} }] };
  const write = (factors: unknown, more = {}) =>
    writeFileSync(
      swept,
      JSON.stringify({ ...others, arms, ...more, sweep: { method: 'grid', arm: 'plain', factors } }, null, 1),
    );
  const decay = { 'decay.halfLifeHours': [6, 24] };
  const load = (chosen: string) => loadConfig(swept, [], chosen);

  test('is an experiment for each level, which the other factors are swept in', () => {
    write({ dataset: datasets, ...decay });
    expect(listConfigDatasets(composeFiles(swept))).toEqual(['mail', 'own']);
    const config = load('own');
    expect(config).toMatchObject({ name: 'least-own', dataset: { name: 'jsonl', path: 'data' } });
    expect(config.arms.map(({ name }) => name)).toEqual([
      'plain',
      'plain | decay.halfLifeHours=6',
      'plain | decay.halfLifeHours=24',
    ]);
    expect(config.sweep?.factors.map(({ name }) => name)).toEqual(['decay.halfLifeHours']);
    expect(findUsedDataFolder(config.dataset)).toBe(folder);
  });

  test('may be the only factor', () => {
    write({ dataset: datasets });
    expect(load('mail')).toMatchObject({ sweep: null, arms: [{ name: 'plain' }] });
  });

  test('takes names of datasets, and of those that need no options', () => {
    write({ dataset: ['own', 'mail-threads'] }, { datasets });
    expect(listConfigDatasets(composeFiles(swept))).toEqual(['own', 'mail-threads']);
    expect(load('own').dataset).toMatchObject({ name: 'jsonl' });
    expect(load('mail-threads').dataset).toMatchObject({ name: 'mail-threads' });
  });

  test.each<[string, unknown, object, RegExp]>([
    [
      'an unknown key',
      { mail: { name: 'jsonl', pth: 3 } },
      {},
      /sweep\.factors\.dataset\.mail\.pth: .*unknown key "pth".*yaml:\d+\)/,
    ],
    [
      'options that are missing',
      ['mail', 'oasst'],
      {},
      /sweep\.factors\.dataset\[1\]\.path: expected string, got nothing \(.*:\d+\)/,
    ],
    ['a dataset twice', ['mail', 'mail'], {}, /sweep\.factors\.dataset: expected each dataset once, got "mail" twice/],
    ['no dataset', [], { datasets }, /sweep\.factors\.dataset: expected at least one dataset, got none/],
    [
      'a name alone',
      'mail',
      { datasets },
      /sweep\.factors\.dataset: expected a list of names of datasets, got "mail" beside/,
    ],
    ['datasets beside datasets', { x: { name: 'irc', path: 'y' } }, { datasets }, /got \{"x":.* beside datasets/],
  ])('refuses %s', (_, dataset, more, message) => {
    write({ dataset, ...decay }, more);
    expect(() => load('mail')).toThrow(message);
  });
});
