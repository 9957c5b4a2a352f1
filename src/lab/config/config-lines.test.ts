import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigurationError } from '../../core/errors/errors.ts';
import { loadConfig, resolveConfig } from './config.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-lines-'));
afterAll(() => rmSync(root, { recursive: true }));

const OWN = `# A comment keeps its line.
name: own
extends: common.yaml
groups: { evaluation: quick }

arms:
  more:
    from: words

    then: [{ blend: { trajectory: {
      weight: 0.2 } } }]
  less: { from: words }
sweep:
  method: grid
  arm: more
  factors:
    blend.trajectory.weight: [0.1,
      0.3]
    fading:
      fast: { decay: { halfLifeHours: 3 } }
`;

beforeAll(() => {
  mkdirSync(join(root, 'groups', 'evaluation'), { recursive: true });
  writeFileSync(
    join(root, 'common.yaml'),
    `dataset: { name: spamassassin-threads }
embedding: { encoder: lsa }
arms:
  words:
    - search: &pool
        bm25:
          k: 10
  twin:
    - search: *pool
`,
  );
  writeFileSync(join(root, 'groups', 'evaluation', 'quick.yaml'), 'evaluation:\n  baseline: words\n');
});

/** The lines of the message for a config with some of its text replaced, without the folder. */
function listMessages(change: readonly [string, string], ...overrides: string[]): string[] {
  writeFileSync(join(root, 'own.yaml'), OWN.replace(...change));
  try {
    loadConfig(join(root, 'own.yaml'), overrides);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.message.replaceAll(`${root}/`, '').split('\n').slice(1);
  }
}

test('the config is accepted', () => {
  expect(listMessages(['', ''])).toEqual([]);
});

describe('an error names the line of its value', () => {
  test.each<[string, [string, string], string]>([
    [
      'nested in an arm',
      ['0.2', '2'],
      '  arms.more.then[0].blend.trajectory.weight: expected number <= 1, got 2 (own.yaml:11)',
    ],
    ['at the top', ['name: own', 'name: Own'], ' got "Own" (own.yaml:2)'],
    ['an unknown key', ['less: { from', 'less: { form'], 'arms.less.form: expected one of '],
    [
      'an unknown key of an arm, its line',
      ['less: { from', 'less: { form'],
      'got "form"; did you mean from? (own.yaml:12)',
    ],
    ['an unknown step', ['{ blend:', '{ bledn:'], 'got "bledn"; did you mean blend? (own.yaml:10)'],
    [
      'a value that is set',
      ['less: { from: words }', 'less:\n    from: words\n    set:\n      bm25.k: 3\n      bm25.b: 7'],
      'arms.less.set.bm25.b: expected number <= 1, got 7 (own.yaml:16)',
    ],
    [
      'a path that is set and leads nowhere',
      ['less: { from: words }', 'less:\n    from: words\n    set:\n      bm52.k: 3'],
      'did you mean bm25? (own.yaml:15)',
    ],
    [
      'an unknown key, its line',
      ['weight: 0.2', 'wieght: 0.2'],
      'got unknown key "wieght"; did you mean weight? (own.yaml:11)',
    ],
    [
      'an unknown key at the top',
      ['groups:', 'sede: 3\ngroups:'],
      'unknown key "sede"; did you mean seed? (own.yaml:4)',
    ],
    ['an unknown arm', ['less: { from: words', 'less: { from: wrods'], '; did you mean words? (own.yaml:12)'],
    [
      'a value of a factor',
      ['0.3]', '3]'],
      '  sweep.factors.blend.trajectory.weight[1]: expected number <= 1, got 3 (own.yaml:18)',
    ],
    [
      'a level of a factor',
      ['halfLifeHours: 3', 'halfLifeHours: -3'],
      'sweep.factors.fading.fast.decay.halfLifeHours: expected number > 0, got -3 (own.yaml:20)',
    ],
    [
      'a path of a factor',
      ['blend.trajectory.weight: [', 'blend.trajectory.wieght: ['],
      '; did you mean weight? (own.yaml:17)',
    ],
    [
      'a value to tune',
      ['0.2 } } }]', '0.2 } } }]\n    tune:\n      blend.trajectory.weight: [0.1,\n        7]'],
      'arms.more.tune.blend.trajectory.weight[1]: expected number <= 1, got 7 (own.yaml:14)',
    ],
    [
      'a path to tune',
      ['0.2 } } }]', '0.2 } } }]\n    tune:\n      blend.trajectory.wieght: [0.1]'],
      'got unknown key "wieght"; did you mean weight? (own.yaml:13)',
    ],
    [
      'a file to extend that is missing',
      ['extends: common.yaml', 'extends: [common.yaml,\n  lost.yaml]'],
      '  extends[1]: expected a YAML file (ENOENT: no such file or directory, stat \'lost.yaml\'), got "lost.yaml" (own.yaml:4)',
    ],
    ['the arm of a sweep', ['arm: more', 'arm: mroe'], '(own.yaml:15)'],
    ['a missing key is at its mapping', ['  arm: more\n', ''], 'got nothing (own.yaml:13)'],
    ['a group', ['evaluation: quick', 'evaluation: quikc'], '"quikc"; did you mean quick? (own.yaml:4)'],
    ['a file to extend that is none', ['extends: common.yaml', 'extends: { a: 1 }'], '(own.yaml:3)'],
  ])('%s', (_, change, message) => {
    expect(listMessages(change).join('\n')).toContain(message);
  });

  test('in another file, which it names', () => {
    const common = ['extends: common.yaml', 'extends: [common.yaml, wrong.yaml]'] as const;
    writeFileSync(join(root, 'wrong.yaml'), '\nseed: x\narms:\n  less:\n    embedding: 3\n');
    expect(listMessages(common)).toEqual([
      expect.stringMatching(/^ {2}seed: expected one whole number; .*, got "x" \(wrong\.yaml:2\)$/),
      expect.stringMatching(/^ {2}arms\.less\.embedding: expected .*, got 3 \(wrong\.yaml:5\)$/),
    ]);
  });

  test('in a group, also of a key that is not of the group', () => {
    const choice = ['evaluation: quick', 'evaluation: wrong'] as const;
    const path = join(root, 'groups', 'evaluation', 'wrong.yaml');
    writeFileSync(path, 'evaluation:\n  baseline: words\n  samples: 1\n');
    expect(listMessages(choice)).toEqual([
      '  evaluation.samples: expected number >= 100, got 1 (groups/evaluation/wrong.yaml:3)',
    ]);
    writeFileSync(path, 'evaluation:\n  baseline: words\nseed: 1\n');
    expect(listMessages(choice)[0]).toMatch(/got unknown key "seed".* \(groups\/evaluation\/wrong\.yaml:3\)$/);
  });

  test('a value that an alias repeats is at its anchor', () => {
    const anchored = OWN.replace('    from: words\n', '    from: words\n    set: &p { bm25.k: 3,\n      bm25.b: 7 }\n');
    writeFileSync(join(root, 'own.yaml'), anchored.replace('less: { from: words }', 'less: { from: words, set: *p }'));
    expect(() => loadConfig(join(root, 'own.yaml'))).toThrow(
      /arms\.less\.set\.bm25\.b: expected number <= 1, got 7 \(.*own\.yaml:10\)/,
    );
  });
});

describe('an error without a line', () => {
  test('an override names --set', () => {
    expect(listMessages(['', ''], 'seed=x', 'arms.more.set.blend.trajectory.weight=5')).toEqual([
      expect.stringMatching(/^ {2}seed \(--set\): expected one whole number; .*, got "x"$/),
      '  arms.more.set.blend.trajectory.weight (--set): expected number <= 1, got 5',
    ]);
  });

  test('an override that takes a key away wrote what is missing', () => {
    expect(listMessages(['', ''], 'evaluation={}')).toEqual([
      '  evaluation.baseline (--set): expected string, got nothing',
    ]);
  });

  test('an override of the files', () => {
    expect(listMessages(['', ''], 'groups.evaluation=none').join()).toMatch(/got "none"$/);
  });

  test('a key that is missing at the top', () => {
    expect(listMessages(['name: own\n', ''])).toEqual(['  name: expected string, got nothing']);
  });

  test('a config that is no file', () => {
    expect(() => resolveConfig({ name: 'X' }, 'given')).toThrow(/\n {2}name: expected .*, got "X"\n/);
  });
});
