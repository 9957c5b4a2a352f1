import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { METRICS } from '../../eval/metrics/metric.ts';
import { PROPAGATION_PRESETS } from '../../ops/attention/options.ts';
import { composeFiles } from '../composition/config-composition.ts';
import { isPlain, merge, type Plain, parseYaml } from '../composition/config-file.ts';
import { selectArms } from './arm-selection.ts';
import { listConfigDatasets, loadConfig, resolveConfig } from './config.ts';
import { listConfigKeys } from './config-json-schema.ts';
import {
  expectDocumented,
  indexDocumentedRows,
  isHeading,
  isKind,
  listCodeSpans,
  parseTables,
} from './config-reference.harness.ts';

const reference = readFileSync(new URL('../../../docs/config.md', import.meta.url), 'utf8');
const sweeps = readFileSync(new URL('../../../docs/sweeps.md', import.meta.url), 'utf8');
const training = readFileSync(new URL('../../../docs/training.md', import.meta.url), 'utf8');
const arms = readFileSync(new URL('../../../docs/arms.md', import.meta.url), 'utf8');
const configs = fileURLToPath(new URL('../../../configs', import.meta.url));

const found = listConfigKeys();
/** Keys of an encoder, and of coordinates, are described once, wherever they are. */
const isElsewhere = (id: string) =>
  /^arms\{\}\.(?:embedding|mix\.signals\.encoders\[\]) encoder: |^arms\{\}\.blend\.\w+\.coordinates\.|\.transfer\[\]\.dataset name: /.test(
    id,
  );
const described = found.filter(({ id }) => !isElsewhere(id));
const keys = described.filter((key) => !isHeading(key));
const kinds = described.filter(isHeading);
const rows = indexDocumentedRows(`${reference}\n${training}`);

describe('the reference of the config', () => {
  test('has a row for every key that the schemas know, and for no other', () => {
    expect([...rows.keys()].sort()).toEqual(keys.map(({ id }) => id).sort());
    expect(keys.length).toBeGreaterThan(70);
  });

  test.each(keys)('says of $id of which type it is and what its default is', (key) => {
    expectDocumented(rows, key, /^(none|all 1)$/);
  });

  test('has a heading for every kind of dataset, encoder, index, launcher and sweep, and every member of a step', () => {
    const headings = `${reference}\n${training}`.split('\n').filter((line) => line.startsWith('#'));
    for (const { id, schema } of kinds) {
      const [, place, kind] = (isKind(schema) ? /^(\S+) (.*)\.\w+$/ : /^(.*)\.([^.]+)$/).exec(id) ?? [];
      expect(
        headings.filter((line) => listCodeSpans(line)[0] === place && listCodeSpans(line).includes(kind as string)),
        id,
      ).toHaveLength(1);
    }
    expect(kinds.length).toBeGreaterThan(10);
  });

  test('lists every metric with the cutoffs that it takes', () => {
    const forms = METRICS.members.map(({ name, cutoff, ranksOnly, parameter }) => {
      const start = parameter === undefined ? name : `${name}(p)`;
      const reaches = cutoff === 'none' ? [] : ranksOnly ? ['@k'] : ['@k', '@Bt'];
      return [...(cutoff === 'required' ? [] : ['']), ...reaches].map((reach) => `\`${start}${reach}\``).join(', ');
    });
    const [table = []] = parseTables(reference.split(/^### Metrics$/m)[1] as string);
    const meanings = METRICS.members.map(({ description }) => description);
    expect(table.slice(2)).toEqual(forms.map((form, i) => [form, meanings[i]]));
  });

  test('has the figures of every preset', () => {
    const [header, , ...body] = parseTables(reference).find(([first]) => first?.[0] === 'preset') ?? [];
    const table = body.map(([name, ...cells]) => [listCodeSpans(name as string)[0], cells.map((cell) => parse(cell))]);
    expect(table).toEqual(
      Object.entries(PROPAGATION_PRESETS).map(([name, preset]) => [
        name,
        header?.slice(1).map((key) => preset[key as keyof typeof preset]),
      ]),
    );
  });
});

/** The marked blocks of a page: a whole config, a part of one, an arm, or a file that names others. */
function readYamlBlocks(page: string) {
  return [...page.matchAll(/^```yaml ?(\w*)\n([\s\S]*?)^```$/gm)].map(([, kind, text], i) => ({
    kind: kind as string,
    text: text as string,
    at: i + 1,
  }));
}

describe.each([
  ['docs/config.md', reference],
  ['docs/sweeps.md', sweeps],
  ['docs/arms.md', arms],
  ['docs/training.md', training],
])('the examples of %s', (source, page) => {
  const root = mkdtempSync(join(tmpdir(), 'ragpp-reference-'));
  afterAll(() => rmSync(root, { recursive: true }));
  const whole = parseYaml(readYamlBlocks(reference).find(({ kind }) => kind === '')?.text as string, 'docs/config.md');

  /** A fragment as part of a whole config: arms by themselves are compared with the first of them. */
  function completeFragment(kind: string, content: Plain): Plain {
    if (kind === '') return content;
    const { arms, ...part } = kind === 'arm' ? { arms: content } : content;
    const [first] = isPlain(arms) ? Object.keys(arms) : [];
    if (first === undefined) return merge(whole, part);
    return { ...merge(merge(whole, { evaluation: { baseline: first } }), part), arms };
  }

  /** A file as it would stand among the configs of the project. */
  function loadFromText(text: string) {
    mkdirSync(join(root, 'configs'), { recursive: true });
    for (const folder of ['groups', 'sweeps'])
      if (!existsSync(join(root, 'configs', folder)))
        symlinkSync(join(configs, folder), join(root, 'configs', folder), 'dir');
    const path = join(root, 'configs', 'example.yaml');
    writeFileSync(path, text);
    for (const dataset of listConfigDatasets(composeFiles(path)) ?? [null]) loadConfig(path, [], dataset);
  }

  test.each(readYamlBlocks(page))('block $at, $kind, is a valid config', ({ kind, text }) => {
    expect(['', 'arm', 'part', 'file']).toContain(kind);
    if (kind === 'file') expect(() => loadFromText(text)).not.toThrow();
    else expect(() => resolveConfig(completeFragment(kind, parseYaml(text, source)), source)).not.toThrow();
  });

  test('every command with a config of the project can be typed', () => {
    const shell = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, text]) => (text as string).split('\n'));
    const lines = shell.filter((line) => line.includes(' configs/'));
    if (source !== 'docs/arms.md') expect(lines.length).toBeGreaterThan(2);
    for (const line of lines) {
      const listOptionWords = (option: string) =>
        [...line.matchAll(new RegExp(`${option} (?:'([^']*)'|(\\S+))`, 'g'))].map(
          ([, quoted, bare]) => (quoted ?? bare) as string,
        );
      const [, file] = / (?:run|config show) configs\/(\S+)/.exec(line) ?? [];
      expect(listOptionWords('--set')).toHaveLength(line.split('--set').length - 1);
      expect(() =>
        selectArms(loadConfig(join(configs, file as string), listOptionWords('--set')), listOptionWords('--arm')),
      ).not.toThrow();
    }
  });
});
