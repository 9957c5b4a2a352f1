import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ValidationError } from '../../../core/errors/errors.ts';
import { QueryPatternTracker } from '../../../memory/patterns/query-pattern-tracker.ts';
import { openRetrievalLog, type RetrievalLog } from '../../../memory/retrievals/retrieval-log.ts';
import { runWithOpened } from './open-folder.ts';

const locateLog = (folder: string) => join(folder, 'retrievals');

/** Works with the log of retrievals in the folder of a memory, which is made if it is missing. */
export async function runWithRetrievals<T>(folder: string, work: (log: RetrievalLog) => Promise<T>): Promise<T> {
  return runWithOpened(await openRetrievalLog(locateLog(folder)), work);
}

/** @throws ValidationError for a memory without a log of retrievals. */
export function assertRetrievals(folder: string): void {
  if (existsSync(locateLog(folder))) return;
  throw new ValidationError(
    `memory has no log of retrievals: ${folder}; log queries with 'ragpp memory query ${folder} --text TEXT --log' first`,
    { folder },
  );
}

/** How often each record was retrieved; the tracker knows records by their hashes. */
export function trackRetrievals(log: RetrievalLog): QueryPatternTracker {
  const tracker = new QueryPatternTracker();
  for (const { retrieved, time } of log.events()) tracker.record(retrieved, time);
  return tracker;
}
