import { readFileSync } from 'node:fs';
import { FRAME_HEADER_BYTES } from './frame.ts';
import type { JournalOptions } from './journal.ts';
import { Journal } from './journal.ts';
import { JOURNAL_START, type JournalPosition } from './position.ts';
import { listSegments } from './segments.ts';

/** Payloads of different lengths, each with its number in it; one is empty. */
export function drawPayloads(count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, i) => Buffer.from(i === 2 ? '' : `${i}:${'x'.repeat((i * 7) % 23)}`));
}

/** Opens a journal and reads it. */
export async function openJournal(folder: string, options: JournalOptions & { readonly after?: JournalPosition } = {}) {
  const { after = JOURNAL_START, ...others } = options;
  const journal = Journal.open(folder, others);
  const entries = new Map<number, string>();
  try {
    await journal.replay(after, ({ sequence, payload }) => void entries.set(sequence, Buffer.from(payload).toString()));
  } catch (error) {
    await journal.close();
    throw error;
  }
  return { journal, entries };
}

/** Appends payloads at the same time. @returns their sequences. */
export function appendAll(journal: Journal, payloads: readonly Uint8Array[]): Promise<number[]> {
  return Promise.all(payloads.map((payload) => journal.append(payload, (sequence) => sequence)));
}

/** Makes a journal with these entries. @returns the only segment: its path, its bytes, and the end of each frame. */
export async function writeJournal(folder: string, payloads: readonly Uint8Array[]) {
  const { journal } = await openJournal(folder);
  await appendAll(journal, payloads);
  await journal.close();
  const { path } = listSegments(folder)[0] as { path: string };
  let end = 0;
  const ends = payloads.map(({ byteLength }) => {
    end += FRAME_HEADER_BYTES + byteLength;
    return end;
  });
  return { path, bytes: readFileSync(path), ends };
}
