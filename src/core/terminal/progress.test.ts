import { PassThrough } from 'node:stream';
import { afterEach, expect, test, vi } from 'vitest';
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

afterEach(() => {
  closeProgress();
  vi.useRealTimers();
});

test('off a terminal a short stage is one plain line when it ends', async () => {
  const { stream, text } = capture(false);
  const stage = createTerminalProgress(stream)('embedding', 100);
  stage.update(50);
  stage.finish('3,167 turns');
  await new Promise(setImmediate);
  expect(text()).toMatch(/^embedding: 3,167 turns \(\d+\.\d s\)\n$/);
});

test('off a terminal long work is reported every 30 seconds, with its count and the time left', () => {
  vi.useFakeTimers();
  const { stream, text } = capture(false);
  const progress = createTerminalProgress(stream);
  const arms = progress('arms', 4);
  arms.update(1.5);
  const embedding = progress('embedding', 8000);
  vi.advanceTimersByTime(29_000);
  expect(text()).toBe('');
  embedding.update(2000);
  vi.advanceTimersByTime(1000);
  expect(text()).toBe('arms: 1 of 4, about 50 s left; embedding: 2,000 of 8,000, about 90 s left\n');
  vi.advanceTimersByTime(29_000);
  embedding.finish('8,000 texts');
  vi.advanceTimersByTime(29_000);
  arms.finish();
  vi.advanceTimersByTime(100_000);
  expect(text().split('\n').slice(1)).toEqual(['embedding: 8,000 texts (59.0 s)', 'arms: done (88.0 s)', '']);
});

test('off a terminal work that leaves no time for a timer is reported by its own updates', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const { stream, text } = capture(false);
  const stage = createTerminalProgress(stream)('folds', 5);
  for (let done = 0; done < 5; done++) {
    vi.advanceTimersByTime(20_000);
    stage.update(done);
  }
  expect(text()).toBe('folds: 1 of 5, about 3 min left\nfolds: 3 of 5, about 54 s left\n');
  closeProgress();
  vi.advanceTimersByTime(100_000);
  stage.update(5);
  expect(text().split('\n').length).toBe(3);
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
