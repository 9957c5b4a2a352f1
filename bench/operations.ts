import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runInChild } from './child.ts';
import { formatTextTable } from './text-table.ts';

export const OPERATIONS_USAGE = `operations [options]   how often the code of each room runs for small fixed workloads, with kernel launches and bytes that are read back: no times
    --write        makes the counts those that bench/operations.test.ts holds`;

/** Operations of a workload, the same on every machine. */
export interface OperationCounts {
  /** Kernels of tensors. */
  readonly launches: number;
  /** Bytes of tensors that were read back. */
  readonly bytesRead: number;
  /** Postings, rows and others that kernels of WebAssembly go through. */
  readonly passes: number;
  /** The blocks of code that ran, by room of src: a loop over postings, vectors or lines counts each of its passes. */
  readonly blocks: Readonly<Record<string, number>>;
}

/** By workload. */
export type AllOperationCounts = Readonly<Record<string, OperationCounts>>;

/** The share by which a count may grow: code that is written another way has a few blocks more or fewer. */
const TOLERANCE = 0.05;
/** Blocks of a room that are too few to be held. */
const FEW_BLOCKS = 1000;

const held = fileURLToPath(new URL('operations.json', import.meta.url));

export function readHeldOperations(): AllOperationCounts {
  return JSON.parse(readFileSync(held, 'utf8')) as AllOperationCounts;
}

/** Counts the operations of all workloads in a process of their own, on wasm. */
export function countOperations(): Promise<AllOperationCounts> {
  return runInChild<AllOperationCounts>('./operations-child.ts', null);
}

/** @returns a sentence for each count that is more than what is held, and for each workload that is not held. */
export function listGrowth(before: AllOperationCounts, now: AllOperationCounts): string[] {
  return Object.entries(now).flatMap(([workload, counts]) => {
    const known = before[workload];
    if (known === undefined) return [`${workload}: not held; npm run bench -- operations --write`];
    const grown = (what: string, from: number, to: number, most: number) =>
      to > most ? [`${workload}: ${what} grew from ${from} to ${to}`] : [];
    const blocks = Object.entries(counts.blocks).flatMap(([room, count]) => {
      const from = known.blocks[room] ?? 0;
      return grown(`blocks of ${room}`, from, count, Math.max(FEW_BLOCKS, from * (1 + TOLERANCE)));
    });
    return [
      ...grown('launches', known.launches, counts.launches, known.launches),
      ...grown('bytes read back', known.bytesRead, counts.bytesRead, known.bytesRead),
      ...grown('passes of kernels', known.passes, counts.passes, known.passes),
      ...blocks,
    ];
  });
}

/** Prints the counts, and those that grew. */
export async function benchOperations(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { write: { type: 'boolean', default: false } } });
  const counts = await countOperations();
  const rooms = [...new Set(Object.values(counts).flatMap(({ blocks }) => Object.keys(blocks)))].sort();
  const rows = Object.entries(counts).map(([name, { launches, bytesRead, passes, blocks }]) => [
    ...[name, String(launches), String(bytesRead), String(passes)],
    ...rooms.map((room) => String(blocks[room] ?? 0)),
  ]);
  console.log(
    formatTextTable(
      ['workload', 'launches', 'bytes read', 'kernel passes', ...rooms.map((room) => `${room}, blocks`)],
      rows,
    ),
  );
  if (values.write) writeFileSync(held, `${JSON.stringify(counts, null, 2)}\n`);
  else for (const sentence of listGrowth(readHeldOperations(), counts)) console.log(sentence);
}
