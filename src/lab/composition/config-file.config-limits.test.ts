import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ConfigurationError } from '../../core/errors/errors.ts';
import { least, listResolveFaults, plain } from '../config/config.fixture.ts';
import { loadConfig, resolveConfig } from '../config/config.ts';
import { applyOverrides, type Plain, parseYaml } from './config-file.ts';
import { CONFIG_LIMITS } from './yaml-text.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-limits-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The message of the error that a file of some content ends with. */
function readRefusal(content: string | Uint8Array): string {
  const path = join(folder, 'config.yaml');
  writeFileSync(path, content);
  try {
    loadConfig(path);
    return 'none';
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.message.replaceAll(path, 'FILE');
  }
}

const repeatTen = (value: (i: number) => unknown) => Array.from({ length: 10 }, (_, i) => value(i));

describe('what is no config is one fault, without its content', () => {
  test.each([
    ['text', 'user:password:1:1\n', '(top level): expected a mapping, got text'],
    ['a list', '- password\n- *password\n', '(top level): expected a mapping, got a list'],
    ['a number', '17\n', '(top level): expected a mapping, got a number'],
    ['nothing', '', '(top level): expected a mapping, got nothing'],
    ['an alias', '*password\n', '(top level): expected a mapping, got a list'],
    ['a zero byte', 'name: x\n\0password', '(file): expected a YAML file, got a binary file of 17 bytes'],
    [
      'an image',
      Uint8Array.from({ length: 5000 }, (_, i) => (i * 7919) % 256),
      '(file): expected a YAML file, got a binary file of 5000 bytes',
    ],
    [
      'bytes that are no UTF-8',
      Uint8Array.of(0x61, 0xff),
      '(file): expected a YAML file, got a binary file of 2 bytes',
    ],
  ])('%s', (_, content, fault) => {
    expect(readRefusal(content)).toBe(`1 error in FILE; correct and run again:\n  ${fault}`);
  });

  test('syntax errors do not show the text of the file, and 20 of them are listed', () => {
    const broken = readRefusal(`${'"\\password"\n- @password: |password\n'.repeat(23)}`);
    expect(broken).toMatch(/expected valid YAML/);
    expect(broken).not.toMatch(/password/);
    expect(broken.split('\n')).toHaveLength(1 + CONFIG_LIMITS.syntaxFaults + 1);
    expect(broken).toMatch(/\(file\): expected valid YAML, got \d+ further syntax faults$/);
  });
});

describe('aliases', () => {
  test('of a value within itself are refused', () => {
    expect(readRefusal('name: &a {x: *a}')).toBe(
      '1 error in FILE; correct and run again:\n  name.x: expected a value that does not contain itself, got an alias of its own parent',
    );
    expect(readRefusal('arms: &a {x: {tune: *a}}')).toMatch(
      / {2}arms\.x\.tune: expected a value that does not contain itself/,
    );
  });

  test('that multiply are refused before anything is written out', () => {
    const formatAliasLevel = (i: number) =>
      `a${i}: &a${i} [${repeatTen(() => (i === 0 ? 'x' : `*a${i - 1}`)).join(',')}]\n`;
    const bomb = Array.from({ length: 12 }, (_, i) => formatAliasLevel(i)).join('');
    expect(readRefusal(bomb)).toMatch(
      /^1 error in FILE; correct and run again:\n {2}a\d\[\d\]: expected at most 100000 values repeated by aliases, got more; write fewer aliases$/,
    );
    expect(readRefusal(bomb.replace(/^a\d+:/gm, '-'))).toMatch(/^1 error.*\n.*expected a mapping, got a list$/);
  });

  test('are at most 5,000 in a file', () => {
    const repeatAlias = (count: number) => Array.from({ length: count }, (_, i) => `k${i}: *a\n`).join('');
    expect(Object.keys(parseYaml(`a: &a 1\n${repeatAlias(300)}`, 'x'))).toHaveLength(301);
    expect(readRefusal(`a: &a 1\n${repeatAlias(5001)}`)).toMatch(
      /expected at most 5000 aliases in a file, got 5001; write some/,
    );
  });
});

test.each([
  ['lists', `a: ${'['.repeat(150)}${']'.repeat(150)}`],
  ['more lists than a stack holds', `a: ${'['.repeat(5000)}${']'.repeat(5000)}`],
  ['mappings', Array.from({ length: 150 }, (_, i) => `${' '.repeat(i)}a:\n`).join('')],
])('%s are nested up to 100 levels', (_, text) => {
  expect(readRefusal(text)).toMatch(/^1 error in FILE; correct and run again:\n.*100 levels of mappings and lists/);
});

describe('__proto__', () => {
  test.each([
    ['at the top', '__proto__: {seed: 7}\nname: x', '__proto__'],
    ['in an arm', 'arms: {x: {__proto__: {decay: null}}}', 'arms.x.__proto__'],
    ['in a step', 'arms: {x: [{__proto__: {decay: null}}]}', 'arms.x[0].__proto__'],
  ])('%s is refused', (_, text, path) => {
    expect(readRefusal(text)).toBe(
      `1 error in FILE; correct and run again:\n  ${path}: expected a key other than __proto__, got "__proto__"`,
    );
  });

  test('is refused in a config that is no file', () => {
    const config = { ...least, arms: { x: JSON.parse('{"__proto__": {"decay": null}}') as Plain } };
    expect(listResolveFaults(config)).toEqual([
      'arms.x.__proto__: expected a key other than __proto__, got "__proto__"',
    ]);
  });

  test.each([
    '__proto__.x=1',
    'constructor.prototype.x=1',
    'arms.__proto__.x=1',
    'a={__proto__: {x: 1}}',
    'a.__proto__=1',
  ])('no override writes to the prototype of all objects: %s', (override) => {
    const config = { arms: {} };
    try {
      const changed = applyOverrides(config, [override]);
      expect(Object.hasOwn(changed, 'constructor')).toBe(true);
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigurationError);
    }
    expect(({} as { x?: number }).x).toBeUndefined();
    expect(Object.getPrototypeOf(config)).toBe(Object.prototype);
  });
});

test('of 8,000 unknown keys the message lists 50', () => {
  const keys = Array.from({ length: 8000 }, (_, i) => `key${i}: 1\n`).join('');
  const lines = readRefusal(keys).split('\n');
  expect(lines).toHaveLength(1 + 50 + 1);
  expect(lines[0]).toMatch(/^more than 50 errors/);
  expect(lines.at(-1)).toBe('  and more; fix these first');
});

test('an override goes through at most 100 parts', () => {
  const buildLongPath = (parts: number) => Array(parts).fill('a').join('.');
  expect(() => applyOverrides({}, [`${buildLongPath(100)}=1`])).not.toThrow();
  expect(() => applyOverrides({}, [`${buildLongPath(3000)}=1`])).toThrow(
    /--set: expected a path of at most 100 parts, got 3000 in "a\./,
  );
  // A key with as many dots is reported as it was written.
  expect(listResolveFaults({ [buildLongPath(3000)]: 1 })).toEqual([expect.stringMatching(/got unknown key "a\.a/)]);
});

describe('arms', () => {
  const buildArmChain = (length: number) =>
    Object.fromEntries(Array.from({ length }, (_, i) => [`a${i}`, { from: i === 0 ? 'plain' : `a${i - 1}` }]));

  test('start from each other at most 100 times in a row', () => {
    expect(listResolveFaults({ arms: { plain, ...buildArmChain(99) } })).toEqual([]);
    expect(listResolveFaults({ arms: { plain, ...buildArmChain(3000) } })).toEqual([
      'arms.a99.from: expected at most 100 arms that start from each other in a row; let this arm start from an earlier one, got "a98"',
    ]);
  });

  test('of a sweep and null controls may stand above the longest chain, and the result resolves to itself', () => {
    const arms = { plain, ...buildArmChain(98), top: { from: 'a97', then: [{ blend: { trajectory: {} } }] } };
    const sweep = { method: 'grid', arm: 'top', factors: { 'blend.trajectory.weight': [0.1, 0.2] } };
    const config = resolveConfig({ ...least, arms, sweep, controls: ['shuffled-coordinates'] }, 'x');
    expect(config.arms.at(-1)?.name).toBe('top | blend.trajectory.weight=0.2 | control: shuffled-coordinates');
    expect(resolveConfig(structuredClone(config) as unknown as Plain, 'again')).toEqual(config);
  });

  test('that start from an unknown arm are reported with a few names', () => {
    const arms = Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`a${i}`, { from: `none ${i}` }]));
    const faults = listResolveFaults({ arms: { plain, ...arms } });
    expect(faults).toHaveLength(3000);
    expect(faults.at(-1)).toMatch(/expected an arm before it \(plain, a0, .* and 2980 more\), got "none 2999"$/);
  });

  test('are at most 10,000, with those of a sweep', () => {
    const many = Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [`a${i}`, { from: 'plain' }]));
    expect(listResolveFaults({ arms: { plain, ...many } })).toEqual([
      'arms: expected at most 10000 arms, with those of a sweep and null controls, got 10002; write fewer',
    ]);
    const factors = { 'bm25.k': repeatTen((i) => i + 1) };
    expect(listResolveFaults({ sweep: { method: 'grid', arm: 'plain', limit: 1_000_000, factors } })).toEqual([
      'sweep.limit: expected number <= 10000, got 1000000',
    ]);
  });

  test('are tuned over at most 10,000 points in all', () => {
    const values = repeatTen((i) => i + 1);
    const shares = repeatTen((i) => i / 10);
    const tune = { 'bm25.k': values, 'bm25.k1': values, 'bm25.b': shares };
    const tuned = { from: 'plain', tune };
    const blend = { 'blend.trajectory.weight': shares, 'blend.trajectory.sigma': values };
    const more = { ...tune, 'decay.halfLifeHours': values, ...blend };
    const steps = [{ decay: {} }, { blend: { trajectory: {} } }];
    expect(resolveConfig({ ...least, arms: { plain, tuned } }, 'x').arms).toHaveLength(2);
    expect(listResolveFaults({ arms: { plain, tuned: { from: 'plain', then: steps, tune: more } } })).toEqual([
      'arms.tuned.tune: expected at most 10000 points in the grids of all arms, got 1000000 up to this arm; list fewer values',
    ]);
    const arms = Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`tuned ${i}`, tuned]));
    expect(listResolveFaults({ arms: { plain, ...arms } })).toEqual([
      'arms.tuned 10.tune: expected at most 10000 points in the grids of all arms, got 11000 up to this arm; list fewer values',
    ]);
  });
});

test('a name is short enough for a folder, before anything runs', () => {
  expect(listResolveFaults({ name: 'x'.repeat(100) })).toEqual([]);
  expect(listResolveFaults({ name: 'x'.repeat(300) })).toEqual([
    expect.stringMatching(/^name: expected at most 100 characters, got "x+\.\.\.$/),
  ]);
  expect(listResolveFaults({ arms: { plain, ['y'.repeat(1001)]: plain } })).toEqual([
    expect.stringMatching(/^arms\.y+\.{3}: expected at most 1000 characters, got "y+\.\.\.$/),
  ]);
});

test('a metric stands once in a table', () => {
  expect(listResolveFaults({ evaluation: { baseline: 'plain', metrics: ['mrr@10', 'map', 'mrr@10'] } })).toEqual([
    'evaluation.metrics[2]: expected each metric once, got "mrr@10"',
  ]);
});
