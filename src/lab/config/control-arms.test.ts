import { describe, expect, test } from 'vitest';
import { ConfigurationError } from '../../core/errors/errors.ts';
import { CONTROL_KINDS } from '../../rank/signals/worlds/control-options.ts';
import type { Plain } from '../composition/config-file.ts';
import { ArmTuning } from '../run/tuning.ts';
import { listArmsToRun, selectArms } from './arm-selection.ts';
import { type ArmOptions, type ExperimentConfig, resolveConfig } from './config.ts';
import { describeControl } from './control-arms.ts';

const arms = [
  { name: 'words' },
  { name: 'ringed', extends: 'words', attention: { mechanism: 'rcp' }, tune: { 'attention.weight': [0.1, 0.3] } },
  { name: 'placed', extends: 'words', trajectory: { dimensions: 7 } },
  {
    name: 'placed, ringed',
    extends: 'placed',
    attention: { mechanism: 'unified' },
    tune: { 'trajectory.weight': [0.5, 0.7] },
  },
];
const written = {
  name: 'sample',
  dataset: { name: 'spamassassin-threads' },
  embedding: { encoder: 'lsa' },
  evaluation: { baseline: 'words' },
  base: { candidates: [{ index: 'bm25' }], relevance: { signals: ['bm25'] } },
  arms,
};
const resolveChanged = (changes: object): ExperimentConfig => resolveConfig({ ...written, ...changes }, 'test.yaml');
const findNamedArm = (of: ExperimentConfig, name: string) => of.arms.find((arm) => arm.name === name) as ArmOptions;
const listArmNames = (all: readonly { readonly name: string }[]) => all.map(({ name }) => name);
const listAddedNames = (changes: object) => listArmNames(resolveChanged(changes).arms).slice(arms.length);

function catchConfigFaults(changes: object): unknown {
  try {
    return resolveChanged(changes);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.faults;
  }
}

describe('controls', () => {
  test('are none unless they are asked for', () => {
    expect(listAddedNames({})).toEqual([]);
    expect(listAddedNames({ controls: false })).toEqual([]);
    expect(Object.keys(resolveChanged({}))).not.toContain('controls');
  });

  test('are all that change anything of an arm', () => {
    expect(listAddedNames({ controls: true })).toEqual([
      'ringed | control: permuted-order',
      'placed | control: shuffled-coordinates',
      'placed | control: random-parents',
      'placed | control: rewired-graph',
      ...CONTROL_KINDS.slice(0, 4).map((kind) => `placed, ringed | control: ${kind}`),
    ]);
  });

  test('may be of some kinds', () => {
    expect(listAddedNames({ controls: ['permuted-order', 'random-parents'] })).toEqual([
      'ringed | control: permuted-order',
      'placed | control: random-parents',
      'placed, ringed | control: permuted-order',
      'placed, ringed | control: random-parents',
    ]);
  });

  test('are those of any point that tuning may choose, of the arms that one extends as well', () => {
    const tuned = [
      { name: 'words' },
      {
        name: 'ringed',
        extends: 'words',
        attention: { mechanism: 'rcp' },
        tune: { 'attention.mechanism': ['rcp', 'tpo'], 'attention.weight': [0.1, 0.3] },
      },
      { name: 'later', extends: 'ringed', decay: {} },
      { name: 'ring alone', extends: 'ringed', attention: { mechanism: 'rcp' } },
      { name: 'places alone', extends: 'ringed', tune: { 'attention.mechanism': ['tpo'] } },
    ];
    const controls = listArmNames(resolveChanged({ arms: tuned, controls: ['permuted-order', 'random-parents'] }).arms);
    expect(controls.slice(tuned.length)).toEqual([
      'ringed | control: permuted-order',
      'ringed | control: random-parents',
      'later | control: permuted-order',
      'later | control: random-parents',
      'ring alone | control: permuted-order',
      'places alone | control: random-parents',
    ]);
  });

  test('are of the arms of a sweep too, and are no part of it', () => {
    const sweep = { method: 'grid', arm: 'placed', factors: { 'trajectory.sigma': [1, 2] } };
    const swept = resolveChanged({ sweep, controls: ['random-parents'] });
    const control = findNamedArm(swept, 'placed | trajectory.sigma=2 | control: random-parents');
    expect(control.trajectory?.sigma).toBe(2);
    expect(control.levels).toBeNull();
    expect(findNamedArm(swept, 'placed | trajectory.sigma=2').levels).toEqual({ 'trajectory.sigma': '2' });
  });

  test('differ from their arm in the control alone', () => {
    const all = resolveChanged({ controls: true });
    const arm = findNamedArm(all, 'placed, ringed');
    const control = findNamedArm(all, 'placed, ringed | control: rewired-graph');
    expect(describeControl(arm)).toBeNull();
    expect(describeControl(control)).toEqual({ of: 'placed, ringed', kind: 'rewired-graph' });
    const { name: _, description, extends: __, tune, control: drawn, differences, ...options } = control;
    expect(description).not.toBe('');
    expect({ tune, drawn, differences }).toEqual({
      tune: {},
      drawn: { kind: 'rewired-graph', seed: null },
      differences: ['control'],
    });
    expect(arm).toMatchObject(options);
  });

  test('have the values that were tuned for their arm, and are not tuned', async () => {
    const all = resolveChanged({ controls: true });
    const measured: string[] = [];
    const tuning = new ArmTuning(all.arms, async ({ name, trajectory }) => {
      measured.push(name);
      return trajectory?.weight ?? 0;
    });
    const { options, tuned } = await tuning.tuneNamedArm('placed, ringed | control: random-parents');
    expect(tuned).toEqual({ 'trajectory.weight': 0.7 });
    expect(options.trajectory?.weight).toBe(0.7);
    expect(options.control?.kind).toBe('random-parents');
    expect(measured).toEqual(['placed, ringed', 'placed, ringed']);
  });

  test('a config with them written out resolves to itself', () => {
    const all = resolveChanged({ controls: true });
    expect(resolveConfig(structuredClone(all) as unknown as Plain, 'again')).toEqual(all);
  });

  test('a control that is written by hand is not made again', () => {
    const own = { name: 'placed at random', extends: 'placed', control: { kind: 'random-parents', seed: 17 } };
    const all = resolveChanged({ arms: [...arms, own], controls: ['random-parents'] });
    expect(listArmNames(all.arms)).toEqual([
      ...listArmNames(arms),
      'placed at random',
      'placed, ringed | control: random-parents',
    ]);
    expect(describeControl(findNamedArm(all, 'placed at random'))).toEqual({ of: 'placed', kind: 'random-parents' });
  });

  test('are not handed on to arms that extend one', () => {
    const own = { name: 'at random', extends: 'placed', control: { kind: 'random-parents' } };
    const later = { name: 'later', extends: 'at random', decay: {} };
    expect(findNamedArm(resolveChanged({ arms: [...arms, own, later] }), 'later').control).toBeNull();
  });

  test('go with the arms that are run', () => {
    const few = resolveChanged({ controls: true, only: ['ringed'] });
    expect(listArmNames(listArmsToRun(few))).toEqual(['words', 'ringed', 'ringed | control: permuted-order']);
    const selected = selectArms(resolveChanged({ controls: true }), ['placed']);
    expect(listArmNames(listArmsToRun(selected))).toEqual([
      'words',
      'placed',
      'placed | control: shuffled-coordinates',
      'placed | control: random-parents',
      'placed | control: rewired-graph',
    ]);
    const alone = selectArms(resolveChanged({ controls: true }), ['placed | control: random-parents']);
    expect(listArmNames(listArmsToRun(alone))).toEqual(['words', 'placed | control: random-parents']);
    expect(listArmNames(alone.arms)).toContain('placed');
  });
});

test.each([
  ['an unknown kind', { controls: ['random-parent'] }, { path: 'controls', got: '["random-parent"]' }],
  [
    'a control of nothing',
    { arms: [...arms, { name: 'alone', control: { kind: 'random-parents' } }] },
    { path: 'arms[4].control', expected: 'an arm that extends the one that it controls' },
  ],
  [
    'two of one kind for one arm',
    {
      arms: [
        ...arms,
        { name: 'a', extends: 'placed', control: { kind: 'random-parents' } },
        { name: 'b', extends: 'placed', control: { kind: 'random-parents', seed: 3 } },
      ],
    },
    { path: 'arms[5].control', expected: 'one control of each kind for an arm', got: '"random-parents"' },
  ],
  [
    'a name that a control will have',
    { controls: true, arms: [...arms, { name: 'ringed: control: permuted order' }] },
    { path: 'arms[5].name', got: '"ringed-control-permuted-order"' },
  ],
  [
    'a control for all arms',
    { base: { ...written.base, control: { kind: 'random-parents' } } },
    { path: 'base.control', got: 'unknown key "control"' },
  ],
  [
    'a control that tuning would choose',
    { arms: [{ name: 'words', tune: { 'control.kind': ['random-parents'] } }] },
    { path: 'arms[0].tune', got: '"control.kind"' },
  ],
])('refuses %s', (_, changes, fault) => {
  expect(catchConfigFaults(changes)).toEqual([expect.objectContaining(fault)]);
});
