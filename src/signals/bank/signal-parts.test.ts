import { expect, test } from 'vitest';
import { listSignalNames, signalBankOptions } from './options.ts';
import { groupSignalParts } from './signal-parts.ts';

const all = signalBankOptions.parse({ encoders: [{ encoder: 'use-lite' }] });

test('neighbours are what turns beside a candidate and its session say', () => {
  const { groups } = signalBankOptions.parse({ groups: ['text'] });
  expect(groupSignalParts({ groups, encoders: [] }).get('neighbours')).toEqual([
    ...['bm25', 'characters', 'pairs', 'coverage', 'feedback', 'cosine'].flatMap((score) =>
      [':-2', ':-1', ':+1', ':+2', ':session-best', ':session-mean'].map((suffix) => `${score}${suffix}`),
    ),
    'bm25-window-1',
    'coverage-window-1',
    'bm25-window-2',
    'coverage-window-2',
    'bm25-session',
    'coverage-session',
  ]);
});

test('a group has its own signals and the products with one of them', () => {
  const parts = groupSignalParts(all);
  expect(parts.get('form')).toEqual([
    ...['length', 'question', 'answer', 'number', 'times', 'names'],
    ...['time asked', 'number asked', 'name asked', 'entities', 'answer × bm25:-1', 'answer × cosine:-1'],
  ]);
  expect(parts.get('neighbours')).toContain('answer × bm25:-1');
  expect(parts.get('author')).toContain('bm25-author:share');
  expect(parts.get('thread')).toContain('leaf × newest session in channel');
  expect(parts.get('channel')).toContain('leaf × newest session in channel');
});

test('what is left of all parts are scores of the candidate itself', () => {
  const parted = new Set([...groupSignalParts(all).values()].flat());
  const scores = ['bm25', 'characters', 'pairs', 'coverage', 'feedback', 'cosine', 'cosine-use-lite'];
  expect(listSignalNames(all).filter((name) => !parted.has(name))).toEqual(
    scores.flatMap((score) => [score, `${score}:share`]),
  );
});

test('parts that a bank has no signals of are left out', () => {
  expect([...groupSignalParts(signalBankOptions.parse({ groups: ['time', 'author'] })).keys()]).toEqual([
    'time',
    'author',
  ]);
});
