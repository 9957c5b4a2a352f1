import { setTimeout as pause } from 'node:timers/promises';
import { LARGEST_BODY } from '../src/kernel/service/kernel-service.ts';
import type { SliceExport } from '../src/kernel/signatures/slice-export.ts';

const fill = (start: string, part: (i: number) => string, end: string) => {
  const parts: string[] = [];
  for (let [i, left] = [0, LARGEST_BODY - start.length - end.length]; ; i++) {
    const next = `${i === 0 ? '' : ','}${part(i)}`;
    left -= next.length;
    if (left < 0) return `${start}${parts.join('')}${end}`;
    parts.push(next);
  }
};
const nest = (open: string, close: string, length = open.length + close.length) =>
  open.repeat(LARGEST_BODY / length - 50) + close.repeat(LARGEST_BODY / length - 50);

/** Bodies as large as a kernel takes, each for its path. @param slice a true one. */
export const HOSTILE_BODIES: Readonly<Record<string, (slice: SliceExport) => { path: string; body: string }>> = {
  'numbers as ids': (slice) => verify(slice, () => '1'),
  'lists as ids': (slice) => verify(slice, () => '[]'),
  'short ids': (slice) => verify(slice, () => '"a"'),
  'ids in order': (slice) => verify(slice, (i) => `"${String(i).padStart(7, '0')}"`),
  'half a character': (slice) => verify(slice, () => String.raw`"\ud800"`),
  'unknown keys': () => ({ path: '/slice', body: fill('{', (i) => `"k${i}":1`, '}') }),
  'unknown keys of a slice': () => ({ path: '/slice/verify', body: fill('{"slice":{', (i) => `"k${i}":1`, '}}') }),
  'one long key': () => ({ path: '/slice', body: `{"${'k'.repeat(LARGEST_BODY - 8)}":1}` }),
  'one long text': () => ({ path: '/slice', body: `{"policyRef":"${'x'.repeat(LARGEST_BODY - 20)}"}` }),
  'lists within lists': () => ({ path: '/slice', body: nest('[', ']') }),
  'objects within objects': () => ({ path: '/slice', body: `${nest('{"scope":', '}').replace('}', '1}')}` }),
  'first results': ({ policyRef, ...slice }) => ({
    path: '/slice',
    body: fill(
      `{"policyRef":"${policyRef}","scope":{},"refine":{"slice":${JSON.stringify({ ...slice, policyRef })},"around":[`,
      () => '"a"',
      ']}}',
    ),
  }),
};

function verify(slice: SliceExport, id: (i: number) => string): { path: string; body: string } {
  const [start, end] = JSON.stringify({ slice: { ...slice, turnIds: [] } }).split('"turnIds":[]') as [string, string];
  return { path: '/slice/verify', body: fill(`${start}"turnIds":[`, id, `]${end}`) };
}

export interface HostileTask {
  readonly baseUrl: string;
  readonly slice: SliceExport;
  readonly name: string;
  readonly connections: number;
  readonly seconds: number;
}

/** Sends one body over and over. @returns how many were answered. */
export async function sendHostile({ baseUrl, slice, name, connections, seconds }: HostileTask): Promise<number> {
  const { path, body } = HOSTILE_BODIES[name]!(slice);
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
  const end = performance.now() + 1000 * seconds;
  let answered = 0;
  const sendOn = async () => {
    while (performance.now() < end) {
      await (await fetch(`${baseUrl}${path}`, request)).text();
      answered++;
    }
  };
  await Promise.all(Array.from({ length: connections }, sendOn));
  return answered;
}

/** Asks a small question every few milliseconds until `done`. @returns the times of the answers in milliseconds. */
export async function measureOther(ask: () => Promise<unknown>, done: Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  let isOver = false;
  void done.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const before = performance.now();
    await ask();
    times.push(performance.now() - before);
    await pause(5);
  }
  return times;
}
