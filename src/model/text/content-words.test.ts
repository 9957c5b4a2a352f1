import { expect, test } from 'vitest';
import { listSharedContentStems } from './content-words.ts';

test.each([
  ['When did the kernels crash?', 'The kernel was crashing at noon.', ['kernel', 'crash']],
  ['the kernel’s crash', 'a crashed kernel', ['kernel', 'crash']],
  ['Is it the one that they were in?', 'It was the one they were in.', []],
  ['What is wrong with the machine?', 'The kernel was broken.', []],
  ['KERNEL kernel Kernels', 'kernel', ['kernel']],
  ['ports 8080 and 443', 'listen on 8080', ['8080']],
  ['', 'kernel', []],
])('of %j and %j', (a, b, expected) => {
  expect(listSharedContentStems(a, b)).toEqual(expected);
});
