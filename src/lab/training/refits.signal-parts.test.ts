import { expect, test } from 'vitest';
import { listSignalNames, signalBankOptions } from '../../rank/signals/bank/options.ts';
import { groupSignalParts } from './refits.ts';

const all = signalBankOptions.parse({ encoders: [{ encoder: 'use-lite' }] });

test('neighbours are what turns beside a candidate and its session say', () => {
  const { groups } = signalBankOptions.parse({ groups: ['text'] });
  expect(groupSignalParts({ groups, encoders: [] }).get('neighbours')).toEqual([
    ...['bm25', 'characters', 'pairs', 'coverage', 'feedback', 'cosine'].flatMap((score) =>
      ['@previous-2', '@previous', '@next', '@next-2', '@session-best', '@session-mean'].map(
        (suffix) => `${score}${suffix}`,
      ),
    ),
    'bm25.window-1',
    'coverage.window-1',
    'bm25.window-2',
    'coverage.window-2',
    'bm25.session',
    'coverage.session',
  ]);
});

test('a group has its own signals and the products with one of them', () => {
  const parts = groupSignalParts(all);
  expect(parts.get('form')).toEqual([
    ...['form.length', 'form.question', 'form.answer', 'form.number', 'form.times', 'form.names'],
    ...[
      'form.times@asked',
      'form.number@asked',
      'form.names@asked',
      'coverage.entities',
      'form.answer*bm25@previous',
      'form.answer*cosine@previous',
    ],
  ]);
  expect(parts.get('neighbours')).toContain('form.answer*bm25@previous');
  expect(parts.get('author')).toContain('bm25.author@share');
  expect(parts.get('thread')).toContain('thread.leaf*rank.newest@session-channel');
  expect(parts.get('channel')).toContain('thread.leaf*rank.newest@session-channel');
});

test('what is left of all parts are scores of the candidate itself', () => {
  const parted = new Set([...groupSignalParts(all).values()].flat());
  const scores = ['bm25', 'characters', 'pairs', 'coverage', 'feedback', 'cosine', 'cosine.use-lite'];
  expect(listSignalNames(all).filter((name) => !parted.has(name))).toEqual(
    scores.flatMap((score) => [score, `${score}@share`]),
  );
});

test('parts that a bank has no signals of are left out', () => {
  expect([...groupSignalParts(signalBankOptions.parse({ groups: ['time', 'author'] })).keys()]).toEqual([
    'time',
    'author',
  ]);
});
