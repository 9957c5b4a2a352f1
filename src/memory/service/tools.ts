import { z } from 'zod';
import { UnavailableError } from '../../core/errors/errors.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { parse } from '../../core/validation/validation.ts';
import { time } from '../../data/jsonl/jsonl-rows.ts';
import { MEMORY_TYPES } from '../../model/turns/memory-fields.ts';
import { createArmSource, type RankedItem } from '../context/arm-source.ts';
import { assemble } from '../context/assemble.ts';
import { readItemText } from '../context/source.ts';
import type { Memory } from '../engine/memory.ts';
import type { RemovalSelection } from '../removal/selection.ts';

/** The memory that tools work with, and the time. */
export interface ToolSetting {
  /** It answers by an arm. */
  readonly memory: Memory;
  /** The time of what is remembered and asked now, in milliseconds since 1970. */
  readonly clock: () => number;
  /** The cache of encoders that loses the vectors of forgotten texts; null: none. */
  readonly cacheFolder: string | null;
}

/** Something that a model may do with a memory. */
export interface MemoryTool<S extends z.ZodType = z.ZodType> {
  readonly name: string;
  /** For the model: when to use it, and what it gives. */
  readonly description: string;
  readonly input: S;
  /** `reads` changes nothing, `adds` adds records or outcomes, `removes` takes records away for good. */
  readonly effect: 'reads' | 'adds' | 'removes';
  /** @returns plain values. @throws what the memory throws. */
  run(input: z.output<S>, setting: ToolSetting): Promise<object>;
}

const defineTool = <S extends z.ZodType>(tool: MemoryTool<S>): MemoryTool<S> => tool;

const words = z.string().regex(/\S/, 'a text that is not empty');
const moment = z.string().describe('a time in ISO 8601 with a zone, such as 2026-03-01T09:00:00Z');
/** Their names and sizes are checked where the record enters. */
const attributes = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]));
const conversation = words.describe('the conversation, for example the id of a session');

/** Later than every record, so that all are seen, and not before the clock. */
const readMoment = ({ memory, clock }: ToolSetting, asOf: string | undefined): number =>
  asOf === undefined ? Math.max(clock(), (memory.newestTime ?? 0) + 1) : parse(time, asOf, 'asOf');

const remember = defineTool({
  name: 'remember',
  description:
    'Keeps a text in the memory: what was said or decided, a fact, a way to do something. Gives the id of the record.',
  effect: 'adds',
  input: z.strictObject({
    text: words.describe('what is to be remembered, in a sentence or more'),
    id: words.optional().describe('the id of the record; by default made of its text, time and conversation'),
    conversation: conversation.optional(),
    parent: words.optional().describe('the id of the record that this one answers'),
    author: words.optional().describe('who said it'),
    channel: words.optional(),
    time: moment.optional().describe('when it was said, in ISO 8601 with a zone; by default now'),
    type: z.enum(MEMORY_TYPES).optional().describe('episodic: an event; semantic: a fact; procedural: a way to act'),
    importance: z.number().min(0).max(1).optional(),
    sensitive: z.boolean().optional().describe('true: no service gets the text, and no answer shows it'),
    attributes: attributes.optional().describe('more that is known, for filters'),
  }),
  async run({ text, conversation, parent, author, channel, time: said, ...rest }, { memory, clock }) {
    const createdAt = said === undefined ? clock() : parse(time, said, 'time');
    const { type, importance, sensitive, attributes: more } = rest;
    const id = rest.id ?? computeHash({ text, createdAt, conversation, author }).slice(0, 16);
    const metadata = {
      ...more,
      ...(type !== undefined && { memoryType: type }),
      ...(importance !== undefined && { importance }),
      ...(sensitive !== undefined && { sensitive }),
    };
    await memory.add({
      ...{ id, context: text, createdAt, metadata },
      ...(conversation !== undefined && { conversationId: conversation }),
      ...{ parentId: parent ?? null, author: author ?? null, channel: channel ?? null },
    });
    return { id, sequence: memory.sequence };
  },
});

const question = {
  conversation: conversation.optional().describe('only records of this conversation'),
  asOf: moment.optional().describe('only records before this time, in ISO 8601 with a zone'),
};

const recall = defineTool({
  name: 'recall',
  description:
    'Finds what the memory holds about a question, best first: id, text, time, score, and the parts of each score.',
  effect: 'reads',
  input: z.strictObject({
    question: words,
    k: z.int().min(1).max(100).default(10).describe('the most records'),
    ...question,
  }),
  async run({ question: query, k, conversation: session = null, asOf }, setting) {
    let withheld = 0;
    const ask = createArmSource(setting.memory, { onWithheld: () => void withheld++ });
    const now = readMoment(setting, asOf);
    const { signal } = new AbortController();
    const items = (await ask({ query, k, session, now, signal })) as readonly RankedItem[];
    return {
      records: items.map((item) => ({
        ...{ id: item.id, text: readItemText(item), time: new Date(item.timestamp).toISOString(), score: item.score },
        ...{ parts: item.parts, conversation: item.session ?? null },
      })),
      withheld,
      sequence: setting.memory.sequence,
    };
  },
});

/** The time that a memory may take for a context. */
const ASSEMBLY_MILLISECONDS = 30_000;

const assembleTool = defineTool({
  name: 'assemble',
  description:
    'Puts what the memory holds about a prompt into one text within a budget of tokens, to be shown before the prompt.',
  effect: 'reads',
  input: z.strictObject({
    prompt: words,
    budget: z.int().min(1).max(1_000_000).default(2000).describe('tokens of all records in the text'),
    cite: z.boolean().default(false).describe('state of each record its id, its date and why it was found'),
    ...question,
  }),
  async run({ prompt, budget, cite, conversation: session = null, asOf }, setting) {
    const options = { strategy: 'hybrid', rerank: 'none', timeoutMs: ASSEMBLY_MILLISECONDS } as const;
    const now = readMoment(setting, asOf);
    const context = await assemble(
      prompt,
      { ...options, budget, cite, session },
      { memories: setting.memory },
      { now },
    );
    const [{ fault } = { fault: null }] = context.sources;
    if (fault !== null) throw new UnavailableError('memories', fault);
    return { context: context.prompt, ids: context.items.map(({ id }) => id), tokens: context.tokens, budget };
  },
});

const recordOutcome = defineTool({
  name: 'record_outcome',
  description: 'Notes how well it went after a record was used, so that later answers know: 1 for good, 0 for bad.',
  effect: 'adds',
  input: z.strictObject({ id: words.describe('the id of the record'), value: z.number().min(-1).max(1) }),
  async run({ id, value }, { memory }) {
    const { count, mean } = await memory.updateStats(id, value);
    return { id, count, mean, sequence: memory.sequence };
  },
});

/** The one selection of a request. */
function select({ id, conversation, user }: Readonly<Record<'id' | 'conversation' | 'user', string | undefined>>) {
  const selections: readonly (RemovalSelection | null)[] = [
    id === undefined ? null : { filter: { op: '=', field: 'id', value: id } },
    conversation === undefined ? null : { conversationId: conversation },
    user === undefined ? null : { user },
  ];
  return selections.filter((selection) => selection !== null);
}

const forget = defineTool({
  name: 'forget',
  description:
    'Removes a record, a conversation or all that is of a person, with what was made of it, from every file of the ' +
    'memory. It cannot be undone; dryRun lists what would go.',
  effect: 'removes',
  input: z
    .strictObject({
      id: words.optional(),
      conversation: conversation.optional(),
      user: words.optional().describe('the author, or the attribute userId'),
      dryRun: z.boolean().default(false),
    })
    .refine((input) => select({ id: input.id, conversation: input.conversation, user: input.user }).length === 1, {
      message: 'one of id, conversation and user',
    }),
  async run({ dryRun, id, conversation, user }, { memory, cacheFolder }) {
    const [selection] = select({ id, conversation, user });
    const cache = cacheFolder === null ? {} : { cacheFolder };
    const { removed, derived, kept } = await memory.removeWhere(selection as RemovalSelection, { dryRun, ...cache });
    return { removed, derived: derived.map((record) => record.id), kept, done: !dryRun };
  },
});

/** Every tool, in the order in which a model reads them. */
export const MEMORY_TOOLS: readonly MemoryTool[] = [remember, recall, assembleTool, recordOutcome, forget].map(
  (tool) => tool as unknown as MemoryTool,
);
