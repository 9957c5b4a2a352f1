import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findGroup, findStrayKeys } from './config-composition.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-groups-'));
afterAll(() => rmSync(root, { recursive: true }));

beforeAll(() => {
  for (const file of [
    'groups/dataset/outside.yaml',
    'configs/groups/dataset/mail.yaml',
    'configs/groups/dataset/chat.yaml',
    'configs/sweeps/groups/dataset/mail.yaml',
    'alone/groups/dataset/mine.yaml',
  ]) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), 'dataset: {}\n');
  }
});

describe('a group of a config is', () => {
  test.each([
    ['the one beside it', 'configs/sweeps/x', 'mail', 'configs/sweeps', []],
    ['else one further up', 'configs/sweeps/x', 'chat', 'configs', ['configs/sweeps']],
    ['from several folders up', 'configs/sweeps/old/x', 'mail', 'configs/sweeps', ['configs/sweeps/old']],
    ['beside a config that is in no folder named configs', 'alone/x', 'mine', 'alone', []],
  ])('%s', (_, config, name, folder, nearer) => {
    const joinPath = (above: string) => join(root, above, `groups/dataset/${name}.yaml`);
    const found = findGroup(join(root, `${config}.yaml`), 'dataset', name);
    expect(found).toEqual({ file: joinPath(folder), nearer: nearer.map(joinPath) });
  });

  test.each([
    ['above the folder configs', 'configs/sweeps/x.yaml', 'outside'],
    ['above a config of another folder', 'alone/deeper/x.yaml', 'mine'],
    ['in another group', 'configs/x.yaml', 'evaluation'],
  ])('never %s', (_, config, name) => {
    expect(findGroup(join(root, config), 'dataset', name)).toHaveProperty('fault.got', JSON.stringify(name));
  });
});

test('a missing group is reported with the existing ones, and the nearest', () => {
  expect(findGroup(join(root, 'configs', 'x.yaml'), 'dataset', 'mial')).toEqual({
    fault: {
      path: 'groups.dataset',
      expected: 'a file groups/dataset/<name>.yaml beside the config (chat, mail)',
      got: '"mial"',
      nearest: 'mail',
    },
  });
  expect(findGroup(join(root, 'configs', 'x.yaml'), 'scoring', 'mail')).toEqual({
    fault: {
      path: 'groups.scoring',
      expected: 'a file groups/scoring/<name>.yaml beside the config (there is none)',
      got: '"mail"',
    },
  });
});

test('a file of a group writes the keys of its group alone', () => {
  expect(findStrayKeys('dataset', { dataset: {}, embedding: {} })).toEqual([]);
  expect(findStrayKeys('candidates', { arms: {}, plugins: [] })).toEqual([]);
  expect(findStrayKeys('scoring', { arms: {}, plugins: [] })).toEqual([]);
  expect(findStrayKeys('evaluation', { evaluations: {}, arms: {} })).toEqual([
    {
      path: 'evaluations',
      expected: 'one of evaluation, tuning, plugins',
      got: 'unknown key "evaluations"',
      nearest: 'evaluation',
    },
    { path: 'arms', expected: 'one of evaluation, tuning, plugins', got: 'unknown key "arms"' },
  ]);
});
