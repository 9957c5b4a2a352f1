import { ValidationError } from '../../core/errors/errors.ts';
import { TASK_WITHOUT_QUERIES } from '../../data/prepared/datasets.ts';
import type { Dataset, Query } from '../../model/dataset.ts';

/** A mean has an interval, and a difference a p, from two queries on. */
const LEAST = 2;

function chooseRemedy(split: Query['split'] | 'all', count: number, task: string): string {
  if (task === TASK_WITHOUT_QUERIES) return 'set the option queries of the dataset to another value than none';
  return split !== 'all' && count >= LEAST ? 'set evaluation.split: all, or add conversations' : 'add conversations';
}

/**
 * Refuses a split with too few queries before anything is computed for them.
 *
 * @throws ValidationError with the queries of each split, and what to do.
 */
export function assertSplitSize({ name, queries, declaration }: Dataset, split: Query['split'] | 'all'): void {
  const countSplitQueries = (wanted: Query['split']) => queries.filter((query) => query.split === wanted).length;
  const [dev, test] = [countSplitQueries('dev'), countSplitQueries('test')];
  const size = { dev, test, all: dev + test }[split];
  if (size >= LEAST) return;
  const count = (['no query', 'one query'] as const)[size];
  const where = split === 'all' ? 'dev and test together' : `split ${split}`;
  const other = split === 'dev' ? `test holds ${test}` : `dev holds ${dev}`;
  const remedy = chooseRemedy(split, dev + test, declaration.task);
  throw new ValidationError(
    `dataset ${name} has ${count} in ${where}, fewer than ${LEAST}${split === 'all' ? '' : ` (${other})`}; ${remedy}`,
    { dataset: name, split, dev, test },
  );
}
