import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { text as readStream } from 'node:stream/consumers';
import { z } from 'zod';
import { UnavailableError, ValidationError } from '../../core/errors/errors.ts';
import { printError, printOut } from '../../core/terminal/progress.ts';
import { parse, parseJson } from '../../core/validation/validation.ts';
import { buildChildEnvironment, findOwnProgram } from '../../lab/launch/own-process.ts';

interface RecallFlags {
  readonly budget: number;
  readonly deadline: number;
  readonly cite: boolean;
  readonly tokenVariable?: string;
  readonly cache: string;
}

/** The input of a hook of coding agents: JSON with the prompt, and more that is not read. */
const hookInput = z.looseObject({ prompt: z.string() });
const answerSchema = z.looseObject({ prompt: z.string(), tokens: z.number() });

/** The prompt of a text: its own, or that of the JSON of a hook. */
export function readHookPrompt(input: string): string {
  if (!input.trimStart().startsWith('{')) return input.trim();
  try {
    return parse(hookInput, JSON.parse(input), 'standard input').prompt.trim();
  } catch {
    return input.trim(); // a prompt may begin with a brace
  }
}

/** Asks the memory of a folder in another process, which is killed when the time is over, whatever it does then. */
async function askFolder(folder: string, prompt: string, flags: RecallFlags): Promise<z.output<typeof answerSchema>> {
  const { nodeOptions, main } = findOwnProgram();
  const words = ['memory', 'ask', folder, '-', '--budget', String(flags.budget), '--format', 'json'];
  const more = [...(flags.cite ? ['--cite'] : []), '--cache', flags.cache];
  const timeout = Math.max(1, Math.ceil(flags.deadline - performance.now()));
  const options = { env: buildChildEnvironment(), timeout, killSignal: 'SIGKILL' as const };
  const asked = spawn(process.execPath, [...nodeOptions, main, ...words, ...more], options);
  asked.stdin.on('error', () => {}); // it may end before it reads
  asked.stdin.end(prompt);
  const [stdout, stderr, [code, signal]] = await Promise.all([
    readStream(asked.stdout),
    readStream(asked.stderr),
    new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
      asked.once('error', reject);
      asked.once('close', (...end) => resolve(end));
    }),
  ]);
  if (signal !== null) throw new UnavailableError(folder, `no answer within ${flags.deadline} ms; raise --deadline`);
  if (code !== 0) throw new UnavailableError(folder, stderr.trim().split('\n').at(-1) ?? `exit code ${code}`);
  return parse(answerSchema, parseJson(stdout, 'answer is not JSON', { folder }), folder);
}

/** Asks a memory behind a service. */
async function askService(url: string, prompt: string, { budget, deadline, cite, tokenVariable }: RecallFlags) {
  const { connectMemory } = await import('../../memory/client/connect-memory.ts');
  const token = tokenVariable === undefined ? null : (process.env[tokenVariable] ?? '');
  const client = connectMemory(url, { token, timeoutSeconds: Math.max(1, deadline - performance.now()) / 1000 });
  try {
    const { context, tokens } = await client.assemble(prompt, { budget, cite });
    return { prompt: context, tokens };
  } finally {
    client.close();
  }
}

/** Prints the context of a prompt, or nothing: what goes wrong is said on stderr alone, and the exit code stays 0. */
export async function runMemoryRecall(place: string, flags: RecallFlags): Promise<void> {
  try {
    const prompt = readHookPrompt(readFileSync(0, 'utf8'));
    if (prompt === '') throw new ValidationError('no prompt on standard input; write one to it');
    const { prompt: context, tokens } = await (/^https?:/.test(place) ? askService : askFolder)(place, prompt, flags);
    if (tokens > 0) printOut(context);
  } catch (error) {
    printError(`nothing recalled: ${error instanceof Error ? error.message : String(error)}\n`);
  }
}
