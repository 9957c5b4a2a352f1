import { type IndexTask, measureIndex } from './memory-index.ts';
import { measureQueries, type QueriesTask } from './memory-queries.ts';
import { measureOpening, type OpeningTask } from './memory-recovery.ts';
import { measureWrites, type WriteSettings } from './memory-writes.ts';

/** A measurement whose memory, or whose disk, is that of a process of its own. */
export type MemoryTask =
  | { readonly index: IndexTask }
  | { readonly opening: OpeningTask }
  | { readonly queries: QueriesTask }
  | { readonly writes: WriteSettings };

function measure(task: MemoryTask): Promise<unknown> {
  if ('index' in task) return measureIndex(task.index);
  if ('queries' in task) return measureQueries(task.queries);
  return 'opening' in task ? measureOpening(task.opening) : measureWrites(task.writes);
}

const task = JSON.parse(process.argv[2]!) as MemoryTask;
process.send!(await measure(task));
