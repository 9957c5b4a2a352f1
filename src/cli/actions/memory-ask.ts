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
import { type BesideSources, runWithSources, type SourceFlags } from './asked-sources.ts';
import { openFolderArm } from './memory/folder-arm.ts';
import { readMemoryFolder } from './memory/memory-folder.ts';
import { runAtMoment, runWithAskedMemory } from './memory/open-folder.ts';
import { formatBeside, formatReasons, formatWithheld } from './ranked-reasons.ts';

interface AskFlags
  extends Pick<AssemblyOptions, 'budget' | 'strategy' | 'k' | 'rerank' | 'packing' | 'tokens' | 'cite'>,
    SourceFlags {
  readonly asOf?: string;
  readonly at?: string;
  readonly author?: string;
  readonly channel?: string;
  readonly conversation?: string;
  readonly anchor?: string;
  readonly sensitive?: true;
  readonly format: 'text' | 'json';
  readonly cache: string;
}

/** Without a source that was asked for there is no prompt. */
const TIMEOUT_MILLISECONDS = 3_600_000;

/** Assembles the prompt of a question, and the ranking that it is from. */
async function askMemory(memory: Memory, text: string, flags: AskFlags, sources: BesideSources) {
  const { budget, strategy, rerank, packing, tokens, timeZone, cite, conversation, author, channel, anchor } = flags;
  const ranked: RankedItem[] = [];
  let withheld = 0;
  const source = createArmSource(memory, {
    question: {
      ...(author !== undefined && { author }),
      ...(channel !== undefined && { channel }),
      ...(anchor !== undefined && { anchorTurnId: anchor }),
      ...(flags.sensitive && { attributes: { sensitive: true } }),
    },
    onWithheld: () => {
      withheld++;
    },
  });
  const end = (memory.newestTime ?? 0) + 1; // every record is earlier
  const now = flags.asOf === undefined ? end : parse(time, flags.asOf, '--as-of');
  const options = {
    k: flags.k,
    budget,
    strategy,
    rerank,
    packing,
    tokens,
    timeZone,
    cite,
    session: conversation ?? null,
  };
  const memories = async (request: Parameters<typeof source>[0]) => {
    const found = (await source(request)) as readonly RankedItem[];
    ranked.push(...found);
    return found;
  };
  const asked = { ...sources, memories };
  const context = await assemble(text, { ...options, timeoutMs: TIMEOUT_MILLISECONDS }, asked, { now });
  for (const { name, fault } of context.sources) if (fault !== null) throw new UnavailableError(name, fault);
  const packed = new Set(context.items.map(({ id }) => id));
  const count = await createTokenCounter(tokens);
  const ranking = ranked.map(({ id, score, timestamp, source, parts, ...item }) => ({
    ...{ id, score, timestamp, source, parts, packed: packed.has(id), reason: null },
    tokens: count(readItemText({ id, score, timestamp, source, ...item })),
  }));
  const beside = context.sources
    .filter(({ name }) => name !== 'memories')
    .flatMap(({ items }) => items)
    .map((item) => ({ ...item, tokens: count(readItemText(item)), packed: packed.has(item.id) }));
  return { ...context, ranking, beside, withheld, sequence: memory.sequence, asOf: now };
}

type AskedMemory = Awaited<ReturnType<typeof askMemory>>;

function formatAnswer(asked: AskedMemory, arm: string): string {
  const { prompt, sequence, tokens, budget, withheld, ranking, beside } = asked;
  const counts = `${arm}, after ${sequence} changes; ${tokens} of ${budget} tokens; [x] is in the prompt`;
  return `${prompt}\n${counts}\n${formatWithheld(withheld)}${formatBeside(beside)}${formatReasons(ranking)}\n`;
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
    const asked = await runWithSources(flags, (sources) =>
      runWithAskedMemory(
        folder,
        settings,
        (memory) => runAtMoment(memory, flags.at, (then) => askMemory(then, text, flags, sources)),
        arm,
      ),
    );
    printOut(flags.format === 'json' ? `${JSON.stringify(asked, null, 2)}\n` : formatAnswer(asked, arm.name));
  } finally {
    await arm.dispose();
  }
}
