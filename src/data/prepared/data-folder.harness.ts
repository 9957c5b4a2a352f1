import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe } from 'vitest';
import type { Dataset } from '../../model/dataset.ts';
import { PARENT } from './prepared.ts';

/** Tests on real data that the project may not hold: they read `file` of the data folder beside the project, and skip with a printed reason if it is missing. */
export function describeData(name: string, file: string, tests: (path: string) => void): void {
  const path = fileURLToPath(new URL(`../../../../shared/data/${file}`, import.meta.url));
  const missing = !existsSync(path);
  describe.skipIf(missing)(missing ? `${name} (skipped: no data folder with ${file})` : name, () => tests(path));
}

/** The number of queries whose parent is among the ten newest turns. */
export function countFoundByNewest({ corpus, queries, qrels }: Dataset): number {
  const found = queries.filter(({ id, timestamp }) => {
    const newest = corpus.turns.slice(0, corpus.countEarlierTurns(timestamp)).slice(-10);
    return newest.some((turn) => qrels.get(id)?.get(turn.id) === PARENT);
  });
  return found.length;
}
