import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { quoteShellWord } from './format.ts';

test('a shell reads every word back as it was', () => {
  const words = [
    'plain',
    '',
    'two words',
    "it's",
    '"',
    '$HOME',
    '`id`',
    'a\\b',
    '*',
    '{x: [1, 2]}',
    '#',
    'ä × 2',
    'a\nb',
  ];
  const printed = execFileSync('sh', ['-c', `printf '%s\\0' ${words.map(quoteShellWord).join(' ')}`], {
    encoding: 'utf8',
  });
  expect(printed.split('\0')).toEqual([...words, '']);
});

test('a word that means nothing else stays as it is', () => {
  for (const word of ['--set', 'seed=7', 'configs/quickstart.yaml', 'arms.0.k=+1%', 'a@b:c'])
    expect(quoteShellWord(word)).toBe(word);
});
