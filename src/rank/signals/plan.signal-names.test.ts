import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { bankSignals, signalBankOptions } from './bank/options.ts';
import { isSignalName, signalNumbers, toSignalPart, updateSignalName } from './plan.ts';

const OPTIONS = signalBankOptions.parse({
  encoders: [{ encoder: 'use-lite' }, { encoder: 'lsa' }, { encoder: 'lsa', dimension: 61 }],
});
const TODAY = bankSignals(OPTIONS).map(({ name }) => name);

test('every name follows the grammar', () => {
  expect(TODAY.filter((name) => !isSignalName(name))).toEqual([]);
  expect(new Set(TODAY).size).toBe(TODAY.length);
});

test.each([
  '',
  'BM25',
  'bm25.',
  'bm25@',
  'bm25@@share',
  'bm25@share.window-1',
  'a*b*c',
  'author named',
  'bm25:-1',
  'a--b',
])('%j does not follow it', (name) => expect(isSignalName(name)).toBe(false));

test("today's names stay as they are", () => {
  expect(TODAY.map(updateSignalName)).toEqual(TODAY);
});

test.each([
  ['bm25:share', 'bm25@share'],
  ['bm25-author:-2', 'bm25.author@previous-2'],
  ['cosine-lsa-2:session-mean', 'cosine.lsa-2@session-mean'],
  ['cosine-use-lite:+1', 'cosine.use-lite@next'],
  ['thread-decay-720h', 'decay.720h@thread'],
  ['difference siblingOrder', 'difference.sibling-order'],
  ['author alone named × bm25:share', 'author.only-named*bm25@share'],
  ['leaf × newest session in channel', 'thread.leaf*rank.newest@session-channel'],
  ['coordinate:childrenCount', 'coordinate.children-count'],
  ['ahead:7', 'ahead.7'],
  ['session', 'relevance@session'],
])('the former name %s is %s', (former, name) => {
  expect(updateSignalName(former)).toBe(name);
});

/** Names in the header of a published weight file, which a training wrote. */
function readWeightSignals(folder: string, file: string): string[] {
  const bytes = readFileSync(new URL(`../../../results/${folder}/${file}`, import.meta.url));
  const length = Number(bytes.readBigUInt64LE(0));
  const header = z
    .object({ __metadata__: z.object({ weights: z.string() }) })
    .parse(JSON.parse(bytes.toString('utf8', 8, 8 + length)));
  return z.object({ signals: z.array(z.string()) }).parse(JSON.parse(header.__metadata__.weights)).signals;
}

test.each([
  ['learning-mail', 'weights-linear.safetensors', 'bm25@session-best'],
  ['learning-locomo', 'weights-linear.safetensors', 'author.only-named*bm25@share'],
  ['learning-mail-trajectory', 'weights-trajectory.safetensors', 'relevance@neighbour'],
])('every signal of the published weights of %s has a name of today', (folder, file, one) => {
  const names = readWeightSignals(folder, file).map(updateSignalName);
  expect(names.filter((name) => !isSignalName(name))).toEqual([]);
  expect(names).toContain(one);
});

test('numbers of signals are by the names of today', () => {
  expect(signalNumbers.parse({ 'bm25:share': 2, place: 3, cosine: 5 })).toEqual({
    'bm25@share': 2,
    recency: 3,
    cosine: 5,
  });
});

test('a signal named twice is an error', () => {
  const found = signalNumbers.safeParse({ 'bm25:share': 2, 'bm25@share': 3 });
  expect(found.error?.issues).toMatchObject([
    { path: ['bm25:share'], message: 'each signal once: bm25:share is a former name of bm25@share' },
  ]);
});

test('a part of a name has no capitals', () => {
  expect(toSignalPart('childrenCount')).toBe('children-count');
});
