import { describe, expect, test } from 'vitest';
import { ConfigurationError } from '../../core/errors/errors.ts';
import { CONTROL_KINDS } from '../../rank/signals/worlds/world-parts.ts';
import type { Plain } from '../composition/config-file.ts';
import { ArmTuning } from '../run/tuning.ts';
import { describeControl, listArmsToRun, selectArms } from './arm-selection.ts';
import { type ArmOptions, type ExperimentConfig, resolveConfig } from './config.ts';

const words = [{ search: { bm25: {} } }];
const arms = {
  words,
  ringed: { from: 'words', then: [{ blend: { rcp: {} } }], tune: { 'blend.rcp.weight': [0.1, 0.3] } },
  placed: { from: 'words', then: [{ blend: { trajectory: { dimensions: 7 } } }] },
  'placed, ringed': {
    from: 'placed',
    then: [{ blend: { unified: { coordinates: { dimensions: 7 } } } }],
    tune: { 'blend.trajectory.weight': [0.5, 0.7] },
  },
};
const written = {
  name: 'sample',
  dataset: { name: 'spamassassin-threads' },
  embedding: { encoder: 'lsa' },
  evaluation: { baseline: 'words' },
  arms,
};
const resolveChanged = (changes: object): ExperimentConfig => resolveConfig({ ...written, ...changes }, 'test.yaml');
const findNamedArm = (of: ExperimentConfig, name: string) => of.arms.find((arm) => arm.name === name) as ArmOptions;
const listArmNames = (all: readonly { readonly name: string }[]) => all.map(({ name }) => name);
const listAddedNames = (changes: object) => listArmNames(resolveChanged(changes).arms).slice(Object.keys(arms).length);

const getWeight = (arm: object) =>
  (arm as { blend?: { trajectory?: { weight: number } } }).blend?.trajectory?.weight ?? 0;

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
    const tuned = {
      words,
      ringed: {
        from: 'words',
        then: [{ blend: { rcp: {} } }],
        tune: { blend: [{ rcp: {} }, { tpo: {} }], 'bm25.k': [10, 30] },
      },
      later: { from: 'ringed', then: [{ decay: {} }] },
      'ring alone': { from: 'ringed', set: { blend: { rcp: {} } } },
      'places alone': { from: 'ringed', tune: { blend: [{ tpo: {} }] } },
    };
    const controls = listArmNames(resolveChanged({ arms: tuned, controls: ['permuted-order', 'random-parents'] }).arms);
    expect(controls.slice(Object.keys(tuned).length)).toEqual([
      'ringed | control: permuted-order',
      'ringed | control: random-parents',
      'later | control: permuted-order',
      'later | control: random-parents',
      'ring alone | control: permuted-order',
      'places alone | control: random-parents',
    ]);
  });

  test('are of the arms of a sweep too, and are no part of it', () => {
    const sweep = { method: 'grid', arm: 'placed', factors: { 'blend.trajectory.sigma': [1, 2] } };
    const swept = resolveChanged({ sweep, controls: ['random-parents'] });
    const control = findNamedArm(swept, 'placed | blend.trajectory.sigma=2 | control: random-parents');
    expect(control).toMatchObject({ blend: { trajectory: { sigma: 2 } } });
    expect(control.levels).toBeNull();
    expect(findNamedArm(swept, 'placed | blend.trajectory.sigma=2').levels).toEqual({ 'blend.trajectory.sigma': '2' });
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
    const tuning = new ArmTuning(all.arms, async (arm) => {
      measured.push(arm.name);
      return getWeight(arm);
    });
    const { options, tuned } = await tuning.tuneNamedArm('placed, ringed | control: random-parents');
    expect(tuned).toEqual({ 'blend.trajectory.weight': 0.7 });
    expect(getWeight(options)).toBe(0.7);
    expect(options.control?.kind).toBe('random-parents');
    expect(measured).toEqual(['placed, ringed', 'placed, ringed']);
  });

  test('a config with them written out resolves to itself', () => {
    const all = resolveChanged({ controls: true });
    expect(resolveConfig(structuredClone(all) as unknown as Plain, 'again')).toEqual(all);
  });

  test('a control that is written by hand is not made again', () => {
    const own = { from: 'placed', control: { kind: 'random-parents', seed: 17 } };
    const all = resolveChanged({ arms: { ...arms, 'placed at random': own }, controls: ['random-parents'] });
    expect(listArmNames(all.arms)).toEqual([
      ...Object.keys(arms),
      'placed at random',
      'placed, ringed | control: random-parents',
    ]);
    expect(describeControl(findNamedArm(all, 'placed at random'))).toEqual({ of: 'placed', kind: 'random-parents' });
  });

  test('are not handed on to arms that extend one', () => {
    const own = { from: 'placed', control: { kind: 'random-parents' } };
    const later = { from: 'at random', then: [{ decay: {} }] };
    expect(findNamedArm(resolveChanged({ arms: { ...arms, 'at random': own, later } }), 'later').control).toBeNull();
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
    { arms: { ...arms, alone: { steps: words, control: { kind: 'random-parents' } } } },
    { path: 'arms.alone.control', expected: 'an arm that extends the one that it controls' },
  ],
  [
    'two of one kind for one arm',
    {
      arms: {
        ...arms,
        a: { from: 'placed', control: { kind: 'random-parents' } },
        b: { from: 'placed', control: { kind: 'random-parents', seed: 3 } },
      },
    },
    { path: 'arms.b.control', expected: 'one control of each kind for an arm', got: '"random-parents"' },
  ],
  [
    'a name that a control will have',
    { controls: true, arms: { ...arms, 'ringed: control: permuted order': words } },
    { path: 'arms[5].name', got: '"ringed-control-permuted-order"' },
  ],
  [
    'a control that tuning would choose',
    { arms: { words: { steps: words, tune: { 'control.kind': ['random-parents'] } } } },
    { path: 'arms.words.tune.control.kind', got: '"control.kind"' },
  ],
])('refuses %s', (_, changes, fault) => {
  expect(catchConfigFaults(changes)).toEqual([expect.objectContaining(fault)]);
});
