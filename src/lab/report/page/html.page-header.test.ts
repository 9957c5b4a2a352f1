import { expect, test } from 'vitest';
import { buildHandmadeResult } from '../tables/result.fixture.ts';
import { renderPageHeader } from './html.ts';

const sample = buildHandmadeResult();
const result = {
  ...sample,
  environment: {
    ...sample.environment,
    commit: '0123456789abcdef',
    machine: { platform: 'linux x64', cpu: 'Imaginary', cores: 3, memoryGiB: 7.75 },
    packages: { alpha: '1.2.3', beta: '4.5.6' },
    seed: 41,
  },
  dataset: { ...sample.dataset, hash: 'fedcba9876543210', split: 'dev', facts: { messages: 12_345, threads: 7 } },
  queries: sample.queries.slice(0, 7),
  timings: [
    { stage: 'dataset', seconds: 3, launches: 0 },
    { stage: 'arms', seconds: 9.06, launches: 1234 },
    { stage: 'remarks', seconds: 0, launches: 0 },
  ],
};
const { text } = renderPageHeader(result);
/** The text beside a word. */
const readBeside = (word: string) =>
  new RegExp(`<div[^>]*><dt>${word}</dt><dd[^>]*>(.*?)</dd></div>`).exec(text)?.[1]?.replace(/<[^>]*>/g, '');

test('experiment and data are described in words and figures, hashes shortened', () => {
  expect({
    name: readBeside('name'),
    queries: readBeside('queries'),
    hash: readBeside('hash'),
    version: readBeside('version'),
    machine: readBeside('machine'),
    seed: readBeside('seed'),
    packages: readBeside('packages'),
    counts: readBeside('counts'),
  }).toEqual({
    name: 'sample-threads, dev',
    queries: '7 of dev',
    hash: 'fedcba987654',
    version: '0.1.0, commit 0123456789ab',
    machine: '3 x Imaginary, 7.8 GiB, linux x64',
    seed: '41',
    packages: '2 namedalpha 1.2.3beta 4.5.6',
    counts: '2 of what was read, dropped and keptmessages: 12,345threads: 7',
  });
});

test('stages take their time, their launches and a bar as long, the longest 60 % of the width; in the end all of them', () => {
  expect(['dataset', 'arms', 'remarks', 'all'].map(readBeside)).toEqual([
    '3.0 s',
    '9.1 s, 1,234 launches',
    '0.0 s',
    '12.1 s',
  ]);
  expect([...text.matchAll(/style="width:([^"]*)"/g)].map(([, width]) => width)).toEqual(['19.9%', '60.0%', '0.0%']);
});

test('stages that took no time have no bar', () => {
  const still = renderPageHeader({ ...result, timings: [{ stage: 'dataset', seconds: 0, launches: 0 }] });
  expect(still.text).toContain('style="width:0.0%"');
});

test('remarks are a list where there are any', () => {
  expect(renderPageHeader({ ...result, remarks: ['a < b', 'c'] }).text).toContain(
    '<ul class="remarks"><li>a &lt; b</li><li>c</li></ul>',
  );
  expect(renderPageHeader({ ...result, remarks: [] }).text).not.toContain('remarks">');
});
