import { ValidationError } from '../../core/errors/errors.ts';
import { checkClosing, checkFact, type FactEdge, type FactOperation } from '../../index/graph/fact-edge.ts';
import type { FactGraph } from '../../index/graph/fact-graph.ts';

/** The bytes of an operation: JSON. */
export function encodeFactOperation(operation: FactOperation): Uint8Array {
  return Buffer.from(JSON.stringify(operation));
}

function decodeFactOperation(bytes: Uint8Array): FactOperation {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const { kind, ...operation } = JSON.parse(text) as FactOperation & Record<string, unknown>;
  if (kind === 'assert') return checkFact(operation.fact as never, operation.recordedAt);
  const { id, ...closing } = operation;
  if (kind === 'supersede') return checkClosing(id as string, closing as never);
  throw new ValidationError(`kind of an operation is unknown: ${String(kind)}; use assert or supersede`, { kind });
}

/** Does the stored operation with a number. @throws ValidationError for bytes of something else, and an operation that may not follow the earlier ones. */
export function applyStored(graph: FactGraph, bytes: Uint8Array, sequence: number): void {
  try {
    graph.apply(decodeFactOperation(bytes));
  } catch (error) {
    const reason = error instanceof ValidationError ? ` (${error.message})` : '';
    throw new ValidationError(
      `change ${sequence} is no operation of a fact store${reason}; open the folder with the program that wrote it`,
      { sequence },
      { cause: error },
    );
  }
}

/** The operations that made versions: the first version of a fact is its assertion, each later one supersedes the version before. */
export function listFactOperations(versions: readonly FactEdge[]): FactOperation[] {
  const asserted = new Set<string>();
  return versions.map(({ recordedAt, supersededAt: _, closedBy, ...fact }) => {
    const { id, validUntil } = fact;
    if (asserted.has(id)) return { kind: 'supersede', id, validUntil: validUntil as number, recordedAt, by: closedBy };
    asserted.add(id);
    return { kind: 'assert', fact, recordedAt };
  });
}
