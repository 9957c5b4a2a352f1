import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { closeProgress, createTerminalProgress } from './progress.ts';

const [HIDE_CURSOR, SHOW_CURSOR] = ['\x1b[?25l', '\x1b[?25h'];

function capture(isTTY: boolean) {
  const stream = Object.assign(new PassThrough(), {
    isTTY,
    columns: 100,
    cursorTo() {},
    moveCursor() {},
    clearLine() {},
  });
  let text = '';
  stream.on('data', (chunk) => {
    text += chunk;
  });
  return { stream: stream as unknown as NodeJS.WriteStream, text: () => text };
}

test('off a terminal a stage is one plain line when it ends', async () => {
  const { stream, text } = capture(false);
  const stage = createTerminalProgress(stream)('embedding', 100);
  stage.update(50);
  stage.finish('3,167 turns');
  await new Promise(setImmediate);
  expect(text()).toMatch(/^embedding: 3,167 turns \(\d+\.\d s\)\n$/);
});

test('on a terminal a stage is a bar that ends full', async () => {
  const { stream, text } = capture(true);
  const stage = createTerminalProgress(stream)('embedding', 4);
  stage.update(2);
  stage.finish('done');
  await new Promise(setImmediate);
  expect(text()).toContain('embedding');
  expect(text()).toContain('100%');
});

test('stages within each other have a line each, the outer one first', async () => {
  const { stream, text } = capture(true);
  const progress = createTerminalProgress(stream);
  const outer = progress('arms', 2);
  const inner = progress('bm25', 3);
  inner.finish('3 queries');
  outer.finish('2 arms');
  await new Promise(setImmediate);
  expect(text()).toMatch(/arms .* 0% [^\n]*\n[^\n]*bm25 .*100%.* 3 queries.*arms .*100%.* 2 arms/);
});

test('stages that are left open are closed where they stand, and what they still say is passed over', async () => {
  const { stream, text } = capture(true);
  const outer = createTerminalProgress(stream)('arms', 4);
  outer.update(1);
  createTerminalProgress(stream)('bm25', 3);
  await new Promise(setImmediate);
  expect(text()).toContain(HIDE_CURSOR);
  expect(text()).not.toContain(SHOW_CURSOR);
  closeProgress();
  await new Promise(setImmediate);
  const closed = text();
  expect(closed.split(SHOW_CURSOR).length).toBe(3);
  expect(closed).toMatch(/arms .* 25% /);
  outer.update(3);
  outer.finish('4 arms');
  closeProgress();
  await new Promise(setImmediate);
  expect(text()).toBe(closed);
  const next = createTerminalProgress(stream)('again', 1);
  next.finish('all');
  await new Promise(setImmediate);
  expect(text().slice(closed.length)).toMatch(/again .*100%.* all/);
});
