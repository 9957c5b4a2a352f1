import { createTextSource } from '../../core/files/text-lines.ts';
import { visitRunLines } from '../../index/runs/run-lines.ts';
import { buildSystem, collectLines, type System } from './system.ts';

/** The system of a run file with these lines. */
export function parseSystem(name: string, source: string, lines: readonly string[]): System {
  const text = lines.join('\n');
  return buildSystem(
    name,
    source,
    collectLines((visit) => visitRunLines(createTextSource(text), source, visit)),
  );
}
