import { readFileSync } from 'node:fs';
import { UnavailableError, ValidationError } from '../../core/errors/errors.ts';
import { createTerminalProgress, printOut } from '../../core/terminal/progress.ts';
import { parse } from '../../core/validation/validation.ts';
import { time } from '../../data/jsonl/jsonl-rows.ts';
import { createArmSource, type RankedItem } from '../../memory/context/arm-source.ts';
import { type AssemblyOptions, assemble } from '../../memory/context/assemble.ts';
import { readItemText } from '../../memory/context/source.ts';
import type { Memory } from '../../memory/engine/memory.ts';
import { createTokenCounter } from '../../model/text/tokens.ts';
import { isSensitive } from '../../model/turns/memory-fields.ts';
import { openFolderArm } from './memory/folder-arm.ts';
import { readMemoryFolder } from './memory/memory-folder.ts';
import { runWithAskedMemory } from './memory/open-folder.ts';
import { formatReasons, formatWithheld } from './ranked-reasons.ts';

interface AskFlags extends Pick<AssemblyOptions, 'budget' | 'strategy' | 'rerank' | 'packing' | 'tokens' | 'timeZone'> {
  readonly asOf?: string;
  readonly author?: string;
  readonly channel?: string;
  readonly conversation?: string;
  readonly anchor?: string;
  readonly sensitive?: true;
  readonly format: 'text' | 'json';
  readonly cache: string;
}

/** The one source of the prompt, without which there is none. */
const TIMEOUT_MILLISECONDS = 3_600_000;

/** The last moment of a memory and a millisecond, so that every record is earlier. */
function findEnd(memory: Memory): number {
  let last = 0;
  for (const { createdAt } of memory.records()) last = Math.max(last, createdAt);
  return last + 1;
}

/** Assembles the prompt of a question, and the ranking that it is from. */
async function askMemory(memory: Memory, text: string, flags: AskFlags) {
  const { budget, strategy, rerank, packing, tokens, timeZone, conversation, author, channel, anchor } = flags;
  const ranked: RankedItem[] = [];
  let withheld = 0;
  const source = createArmSource(memory, {
    question: {
      ...(author !== undefined && { author }),
      ...(channel !== undefined && { channel }),
      ...(anchor !== undefined && { anchorTurnId: anchor }),
      ...(flags.sensitive && { attributes: { sensitive: true } }),
    },
    admits: ({ metadata }) => {
      const isAdmitted = flags.sensitive === true || !isSensitive({ attributes: metadata });
      if (!isAdmitted) withheld++;
      return isAdmitted;
    },
  });
  const now = flags.asOf === undefined ? findEnd(memory) : parse(time, flags.asOf, '--as-of');
  const options = { budget, strategy, rerank, packing, tokens, timeZone, session: conversation ?? null };
  const memories = async (request: Parameters<typeof source>[0]) => {
    const found = (await source(request)) as readonly RankedItem[];
    ranked.push(...found);
    return found;
  };
  const context = await assemble(text, { ...options, timeoutMs: TIMEOUT_MILLISECONDS }, { memories }, { now });
  for (const { name, fault } of context.sources) if (fault !== null) throw new UnavailableError(name, fault);
  const packed = new Set(context.items.map(({ id }) => id));
  const count = await createTokenCounter(tokens);
  const ranking = ranked.map(({ id, score, timestamp, source, parts, ...item }) => ({
    ...{ id, score, timestamp, source, parts, packed: packed.has(id), reason: null },
    tokens: count(readItemText({ id, score, timestamp, source, ...item })),
  }));
  return { ...context, ranking, withheld, sequence: memory.sequence, asOf: now };
}

export async function runMemoryAsk(folder: string, question: string, flags: AskFlags): Promise<void> {
  const { settings } = readMemoryFolder(folder);
  const arm = await openFolderArm(folder, flags.cache, createTerminalProgress());
  if (arm === null)
    throw new ValidationError(`memory ${folder} has no arm to answer by; give it one with ragpp memory open`, {
      folder,
    });
  try {
    const text = question === '-' ? readFileSync(0, 'utf8').trim() : question;
    const work = (memory: Memory) => askMemory(memory, text, flags);
    const { prompt, tokens, budget, withheld, ranking, ...facts } = await runWithAskedMemory(
      folder,
      settings,
      work,
      arm,
    );
    if (flags.format === 'json')
      printOut(`${JSON.stringify({ prompt, tokens, budget, withheld, ranking, ...facts }, null, 2)}\n`);
    else
      printOut(
        `${prompt}\n${arm.name}, after ${facts.sequence} changes; ${tokens} of ${budget} tokens; [x] is in the prompt\n${formatWithheld(withheld)}${formatReasons(ranking)}\n`,
      );
  } finally {
    await arm.dispose();
  }
}
