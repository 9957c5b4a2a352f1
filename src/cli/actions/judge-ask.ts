import { existsSync } from 'node:fs';
import { ValidationError } from '../../core/errors/errors.ts';
import { writeAtomic } from '../../core/files/files.ts';
import { createTerminalProgress } from '../../core/terminal/progress.ts';
import { printOut } from '../../core/terminal/terminal.ts';
import { parse } from '../../core/validation/validation.ts';
import { applyOverrides } from '../../lab/composition/config-file.ts';
import { endpointJudgeOptions, judgePairs } from '../../lab/judging/endpoint-judge.ts';
import { formatPool, type PoolLine, readPool } from '../../lab/judging/judgement-file.ts';
import type { Judgement } from '../../model/dataset.ts';

interface AskFlags {
  readonly baseUrl: string;
  readonly model: string;
  readonly into: string;
  readonly set: readonly string[];
}

const formatKey = ({ queryId, id }: { readonly queryId: string; readonly id: string }) => JSON.stringify([queryId, id]);

/** The lines of a pool, with the grades that an interrupted call left. @throws ValidationError for a file of another pool or judge. */
function readBegun(pool: string, into: string, model: string): PoolLine[] {
  const lines = readPool(pool).map((line) => ({ ...line, grade: null, judge: null }));
  if (!existsSync(into)) return lines;
  const begun = readPool(into);
  const keys = lines.map(formatKey).join();
  if (begun.map(formatKey).join() !== keys)
    throw new ValidationError(`file is not of this pool: ${into}; name another file, or the pool that it is of`, {
      into,
      pool,
    });
  const other = begun.find(({ grade, judge }) => grade !== null && judge !== model);
  if (other !== undefined)
    throw new ValidationError(`file has grades of ${other.judge ?? 'no judge'}: ${into}; name another file`, { into });
  return begun;
}

export async function runJudgeAsk(pool: string, flags: AskFlags): Promise<void> {
  const { baseUrl, model, into, set } = flags;
  const options = parse(endpointJudgeOptions, applyOverrides({ baseUrl, model }, set), 'the options of the judge');
  const lines = new Map(readBegun(pool, into, model).map((line) => [formatKey(line), line]));
  const save = (judgements: readonly Judgement[]) => {
    for (const judged of judgements) {
      const { grade, judge } = judged;
      const key = formatKey(judged);
      lines.set(key, { ...(lines.get(key) as PoolLine), grade, judge });
    }
    writeAtomic(into, formatPool([...lines.values()]));
  };
  const open = [...lines.values()].filter(({ grade }) => grade === null);
  const { withheld, use } = await judgePairs(open, options, { progress: createTerminalProgress(), onJudged: save });
  const graded = [...lines.values()].filter(({ grade }) => grade !== null).length;
  save([]);
  printOut(`${into}: ${graded} of ${lines.size} pairs graded by ${model}\n`);
  if (withheld.length > 0)
    printOut(
      `withheld: ${withheld.length} sensitive pairs, which were not sent; a person on this machine judges them\n`,
    );
  printOut(`${use}\n`);
}
