import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { ConfigurationError } from '../../core/errors/errors.ts';
import { composeFiles, findWriter } from './config-composition.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-composition-'));
afterAll(() => rmSync(root, { recursive: true }));
const joinConfigPath = (file: string) => join(root, 'configs', file);

/** Writes files by their paths below the folder configs. */
function write(files: Readonly<Record<string, string | object>>): void {
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(joinConfigPath(file)), { recursive: true });
    writeFileSync(joinConfigPath(file), typeof content === 'string' ? content : JSON.stringify(content));
  }
}

beforeEach(() => rmSync(join(root, 'configs'), { recursive: true, force: true }));

const composeContent = (file: string, ...overrides: string[]) => composeFiles(joinConfigPath(file), overrides).content;

/** `path (file): got` of every fault, files without the folder. */
function listComposeFaults(file: string, ...overrides: string[]): string[] {
  try {
    composeFiles(joinConfigPath(file), overrides);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.faults.map(({ path, file: where, got }) =>
      `${path}${where === undefined ? '' : ` (${where})`}: ${got}`.replaceAll(join(root, 'configs', '/'), ''),
    );
  }
}

describe('what is written later goes over what is written earlier', () => {
  test('extended files in their order, then groups, then the own keys, then overrides', () => {
    const buildNested = (n: number) =>
      Object.fromEntries(
        Array.from('edcba')
          .slice(n)
          .map((key) => [key, n]),
      );
    write({
      'first.yaml': { evaluation: buildNested(0) },
      'second.yaml': { evaluation: buildNested(1) },
      'groups/evaluation/g.yaml': { evaluation: buildNested(2) },
      'x.yaml': { extends: ['first.yaml', 'second.yaml'], groups: { evaluation: 'g' }, evaluation: buildNested(3) },
    });
    expect(composeContent('x.yaml', 'evaluation.a=4')).toEqual({ evaluation: { e: 0, d: 1, c: 2, b: 3, a: 4 } });
  });

  test('groups in the order dataset, candidates, scoring, evaluation', () => {
    write({
      'groups/scoring/s.yaml': { arms: { start: { seed: 5, description: 's' }, faded: { from: 'start' } } },
      'groups/candidates/c.yaml': { arms: { start: { steps: ['c'], description: 'c' } } },
      'x.yaml': { groups: { scoring: 's', candidates: 'c' } },
    });
    expect(composeContent('x.yaml')).toEqual({
      arms: { start: { steps: ['c'], description: 's', seed: 5 }, faded: { from: 'start' } },
    });
  });

  test('files are extended through files in other folders', () => {
    write({
      'x.yaml': { extends: 'sweeps/y.yaml', a: 1 },
      'sweeps/y.yaml': { extends: '../z.yaml', a: 2, b: 2 },
      'z.yaml': { a: 3, b: 3, c: 3 },
    });
    expect(composeContent('x.yaml')).toEqual({ a: 1, b: 2, c: 3 });
  });

  test('of a group the last choice is taken, and what it replaces leaves nothing behind', () => {
    write({
      'groups/evaluation/long.yaml': { evaluation: { samples: 9999, level: 0.9 } },
      'groups/evaluation/short.yaml': { evaluation: { samples: 111 } },
      'x.yaml': { extends: 'y.yaml', groups: { evaluation: 'short' } },
      'y.yaml': { groups: { evaluation: 'long' }, seed: 3 },
    });
    expect(composeContent('x.yaml')).toEqual({ seed: 3, evaluation: { samples: 111 } });
    expect(composeContent('x.yaml', 'groups.evaluation=long')).toEqual({
      seed: 3,
      evaluation: { samples: 9999, level: 0.9 },
    });
    expect(composeContent('x.yaml', 'extends=[]', 'groups={}')).toEqual({});
  });

  test('arms go by name: one of the same name is changed in place, others follow', () => {
    write({
      'x.yaml': { extends: 'y.yaml', arms: { c: ['fuse'], a: { set: { 'decay.halfLifeHours': 5 } } } },
      'y.yaml': { arms: { a: { from: 'b', set: { 'decay.halfLifeHours': 3, 'bm25.k': 1 } }, b: ['search'] } },
    });
    const { arms } = composeContent('x.yaml', 'arms.b.set.bm25.k=7', 'arms.a.set.decay.halfLifeHours=9');
    expect(Object.entries(arms as object)).toEqual([
      ['a', { from: 'b', set: { 'decay.halfLifeHours': 9, 'bm25.k': 1 } }],
      ['b', { steps: ['search'], set: { 'bm25.k': 7 } }],
      ['c', ['fuse']],
    ]);
  });

  test('a list of steps replaces an arm, and a mapping joins a list', () => {
    write({
      'x.yaml': { extends: 'y.yaml', arms: { a: ['search', 'fuse'], b: { tune: { k: [1, 2] } } } },
      'y.yaml': { arms: { a: { from: 'z', set: {} }, b: ['search', 'mix'] } },
    });
    expect(composeContent('x.yaml')).toEqual({
      arms: { a: ['search', 'fuse'], b: { steps: ['search', 'mix'], tune: { k: [1, 2] } } },
    });
    expect(composeContent('x.yaml', 'arms.b.steps.1=fuse', 'arms.a.0=mix').arms).toEqual({
      a: ['mix', 'fuse'],
      b: { steps: ['search', 'fuse'], tune: { k: [1, 2] } },
    });
  });
});

describe('an error is reported for', () => {
  test('a cycle, with the chain', () => {
    write({ 'x.yaml': { extends: 'y.yaml' }, 'y.yaml': { extends: './z.yaml' }, 'z.yaml': { extends: 'y.yaml' } });
    expect(listComposeFaults('x.yaml')).toEqual(['extends (z.yaml): y.yaml -> z.yaml -> y.yaml']);
    write({ 'x.yaml': { extends: 'x.yaml' } });
    expect(listComposeFaults('x.yaml')).toEqual(['extends: x.yaml -> x.yaml']);
  });

  test('every file at once, each with its name', () => {
    write({
      'x.yaml': { extends: ['none.yaml', 'broken.yaml', 'y.yaml'], groups: { scorings: 'g', dataset: 'none' } },
      'broken.yaml': 'a: 1\na: 2\n',
      'y.yaml': { extends: 3, groups: { dataset: 'stray' } },
      'groups/dataset/stray.yaml': { dataset: {}, arms: [] },
    });
    expect(listComposeFaults('x.yaml')).toEqual([
      'groups.scorings: unknown key "scorings"',
      'groups.dataset: "none"',
      'extends[0]: "none.yaml"',
      expect.stringMatching(/^line 2, column 1 \(broken\.yaml\): Map keys must be unique/),
      'extends (y.yaml): 3',
      'arms (groups/dataset/stray.yaml): unknown key "arms"',
    ]);
  });

  test('an override of a group', () => {
    write({ 'x.yaml': {} });
    expect(listComposeFaults('x.yaml', 'groups.dataset=none')).toEqual(['groups.dataset: "none"']);
    expect(listComposeFaults('x.yaml', 'seed')).toEqual(['--set: "seed"']);
  });
});

describe('files that extend each other', () => {
  test('in a diamond are read once each, however often they are laid over each other', () => {
    const names = Array.from({ length: 8 }, (_, i) => `f${i}.yaml`);
    const levels = names.map((name, i) => {
      const below = names[i + 1];
      return [name, { ...(below === undefined ? {} : { extends: [below, below] }), seed: i }] as const;
    });
    write(Object.fromEntries(levels));
    expect(composeFiles(joinConfigPath('f0.yaml')).layers).toHaveLength(2 ** 8 - 1);
    expect(composeContent('f0.yaml')).toEqual({ seed: 0 });
  });

  test('are at most 1,000, each counted as often as it is extended', () => {
    const buildExtendingFile = (i: number) => (i === 24 ? {} : { extends: [`f${i + 1}.yaml`, `f${i + 1}.yaml`] });
    write(Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`f${i}.yaml`, buildExtendingFile(i)])));
    expect(listComposeFaults('f0.yaml')).toEqual([
      expect.stringMatching(/^extends \(f\d+\.yaml\): more; extend each file once$/),
    ]);
    expect(() => composeFiles(joinConfigPath('f0.yaml'))).toThrow(
      /expected at most 1000 files in all, each counted as often as it is extended, got more; /,
    );
  });

  test('are at most 100 in a row', () => {
    const buildFileChain = (length: number) =>
      Array.from({ length }, (_, i) => [`f${i}.yaml`, i === length - 1 ? {} : { extends: `f${i + 1}.yaml` }]);
    write(Object.fromEntries(buildFileChain(100)));
    expect(composeContent('f0.yaml')).toEqual({});
    write(Object.fromEntries(buildFileChain(1500)));
    expect(() => composeFiles(joinConfigPath('f0.yaml'))).toThrow(
      /^1 error in .*\n {2}extends: expected at most 100 files that extend each other in a row, got more; merge some of them \(.*f99\.yaml:1\)$/,
    );
  });
});

describe('who wrote a value', () => {
  const describeWriter = (path: string, ...overrides: string[]) => {
    const { file, path: there } = findWriter(path.split('.'), composeFiles(joinConfigPath('x.yaml'), overrides));
    return `${file.replace(join(root, 'configs', '/'), '')}: ${there.join('.')}`;
  };
  beforeEach(() =>
    write({
      'x.yaml': {
        extends: 'y.yaml',
        groups: { evaluation: 'g' },
        seed: 1,
        arms: { c: ['search'], a: { set: { k: 1 } } },
      },
      'y.yaml': { seed: 2, name: 'y', arms: { b: ['search', { mix: 2 }], a: ['search', { fuse: 4 }] } },
      'groups/evaluation/g.yaml': { evaluation: { metrics: ['map'] } },
    }),
  );

  test.each([
    ['seed', 'x.yaml: seed'],
    ['name', 'y.yaml: name'],
    ['evaluation.metrics.0', 'groups/evaluation/g.yaml: evaluation.metrics.0'],
    ['arms.b.1.mix', 'y.yaml: arms.b.1.mix'],
    ['arms.a.set.k', 'x.yaml: arms.a.set.k'],
    ['arms.a.steps.1.fuse', 'y.yaml: arms.a.1.fuse'],
    ['arms.c.0', 'x.yaml: arms.c.0'],
    ['arms.c.missing', 'x.yaml: arms.c.missing'],
    ['evaluation.missing', 'x.yaml: evaluation.missing'],
  ])('%s: %s', (path, expected) => {
    expect(describeWriter(path)).toBe(expected);
  });

  test('an override, and what is within it', () => {
    expect(describeWriter('evaluation.metrics.0', 'evaluation.metrics=[x]')).toBe('--set: evaluation.metrics.0');
    expect(describeWriter('arms.a.set.k', 'arms.a.set.k=9')).toBe('--set: arms.a.set.k');
    expect(describeWriter('arms.a.steps.1.fuse', 'arms.a.set.k=9')).toBe('y.yaml: arms.a.1.fuse');
    expect(describeWriter('arms.b.steps.1.mix', 'arms.b.set.k=9')).toBe('y.yaml: arms.b.1.mix');
  });
});
