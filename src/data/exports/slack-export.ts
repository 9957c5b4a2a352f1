import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { ignoreProgress, mapWithBreaks } from '../../core/terminal/progress.ts';
import { parseOrNull } from '../../core/validation/validation.ts';
import type { Dataset } from '../../model/dataset.ts';
import type { Pseudonyms } from '../mail/pseudonyms.ts';
import type { DatasetContext } from '../prepared/datasets.ts';
import { Counts } from '../prepared/prepared.ts';
import { buildExportDataset, type ExportOptions } from './export-dataset.ts';
import { type ExportFile, type ExportFiles, findExportFiles, readExport, readJson } from './export-files.ts';
import { ORDINARY, type Person, parseSeconds, registerPeople, type SourceMessage } from './source-message.ts';

const user = z.object({
  id: z.string(),
  name: z.string().nullish(),
  real_name: z.string().nullish(),
  profile: z.object({ real_name: z.string().nullish(), display_name: z.string().nullish() }).nullish(),
});

const channel = z.object({ id: z.string(), name: z.string().nullish() });

/** A channel, a private channel or a conversation of some people. */
interface SlackChannel {
  readonly id: string;
  /** Null for conversations of some people, which are named by their members. */
  readonly name: string | null;
  /** In the order of their days. */
  readonly days: readonly ExportFile[];
}

interface SlackWorkspace {
  readonly channels: readonly SlackChannel[];
  /** Full names by user id. */
  readonly names: ReadonlyMap<string, string>;
}

const EXPECTED = 'the folder or the zip file of an export of Slack';
/** The lists of an export. A workspace on a smaller plan has only the first. */
const LISTS = ['channels.json', 'groups.json', 'mpims.json', 'dms.json'] as const;
/** Lists of conversations that are named by their members. */
const BETWEEN_PEOPLE: readonly string[] = ['mpims.json', 'dms.json'];
const DAY = /^\d{4}-\d\d-\d\d\.json$/;

/**
 * The channels of an export, and who is in the workspace. The texts of the days are not read yet.
 *
 * @throws ValidationError for an export without users.json or without a day, and for a list of another form.
 */
async function readSlackWorkspace(files: ExportFiles, counts: Counts): Promise<SlackWorkspace> {
  if (files.single)
    throw new ValidationError(`one file is no workspace: ${files.path}; name ${EXPECTED}`, { path: files.path });
  const [users] = findExportFiles(files, /^users\.json$/, 'users.json') as [ExportFile];
  const root = users.name.slice(0, -'users.json'.length);
  const names = new Map<string, string>();
  for (const raw of await readJson(users, z.array(z.unknown()), EXPECTED)) {
    const known = parseOrNull(user, raw);
    if (known === null) counts.add('skipped: users of an unknown form');
    else
      names.set(
        known.id,
        known.profile?.real_name || known.real_name || known.profile?.display_name || known.name || '',
      );
  }
  const listed = await readChannelLists(files, root);
  return { channels: groupDays(files, root, listed, counts), names };
}

/** The entry of a folder in the lists. */
type Listed = ReadonlyMap<string, { readonly id: string; readonly isNamed: boolean }>;

/** Folders are named as channels, or by the id of a conversation between two. */
async function readChannelLists({ files }: ExportFiles, root: string): Promise<Listed> {
  const listed = new Map<string, { id: string; isNamed: boolean }>();
  for (const list of LISTS) {
    const file = files.find(({ name }) => name === `${root}${list}`);
    if (file === undefined) continue;
    for (const { id, name } of await readJson(file, z.array(channel), EXPECTED))
      listed.set(name ?? id, { id, isNamed: !BETWEEN_PEOPLE.includes(list) });
  }
  return listed;
}

function groupDays(files: ExportFiles, root: string, listed: Listed, counts: Counts): SlackChannel[] {
  const days = new Map<string, ExportFile[]>();
  for (const file of files.files) {
    const [folder, day, ...deeper] = file.name.slice(root.length).split('/');
    if (!file.name.startsWith(root) || folder === undefined || day === undefined) continue;
    if (deeper.length > 0 || !DAY.test(day)) continue;
    const list = days.get(folder);
    if (list === undefined) days.set(folder, [file]);
    else list.push(file);
  }
  if (days.size === 0)
    throw new ValidationError(
      `no day of a channel, such as general/2024-03-01.json, in: ${files.path}; name ${EXPECTED}`,
      {
        path: files.path,
      },
    );
  counts.add('channels', days.size);
  return [...days].map(([folder, list]) => {
    const { id = folder, isNamed = false } = listed.get(folder) ?? {};
    if (!listed.has(folder)) counts.add('channels that no list has');
    return { id, name: isNamed ? folder : null, days: list };
  });
}

const attachment = z.object({
  pretext: z.string().nullish(),
  title: z.string().nullish(),
  text: z.string().nullish(),
  fallback: z.string().nullish(),
});

const message = z.object({
  type: z.string(),
  subtype: z.string().nullish(),
  ts: z.string(),
  thread_ts: z.string().nullish(),
  user: z.string().nullish(),
  bot_id: z.string().nullish(),
  username: z.string().nullish(),
  text: z.string().nullish(),
  attachments: z.array(z.unknown()).nullish(),
  edited: z.unknown().optional(),
});
type Message = z.output<typeof message>;

/** A message in its place, before people have pseudonyms. */
interface SlackMessage extends Omit<SourceMessage, 'author' | 'channel' | 'text'> {
  readonly author: Person | null;
  readonly channel: SlackChannel;
  /** The text as Slack wrote it. */
  readonly written: string;
}

/** Subtypes of messages that somebody wrote; the others tell what happened in a channel. */
const WRITTEN: readonly string[] = [
  'bot_message',
  'me_message',
  'thread_broadcast',
  'file_share',
  'file_comment',
  'reply_broadcast',
];
const DELETED = 'tombstone';

/**
 * The messages of a day of a channel. The message that opened a thread is the parent of all others of the thread, and a
 * message outside a thread is a conversation.
 */
function listSlackMessages(
  rows: readonly unknown[],
  channel: SlackChannel,
  names: ReadonlyMap<string, string>,
  counts: Counts,
): SlackMessage[] {
  return rows.flatMap((raw) => {
    const known = parseOrNull(message, raw);
    const time = known === null ? null : parseSeconds(known.ts);
    if (known === null || time === null) {
      counts.add('skipped: messages of an unknown form');
      return [];
    }
    return [placeMessage(known, time, channel, names, counts)];
  });
}

function placeMessage(
  known: Message,
  time: number,
  channel: SlackChannel,
  names: ReadonlyMap<string, string>,
  counts: Counts,
): SlackMessage {
  const { ts, thread_ts, bot_id, username, edited, subtype } = known;
  const opener = thread_ts ?? ts;
  const written = readText(known);
  const skipped = findSkipReason(known, written);
  if (skipped === null && edited !== undefined && edited !== null)
    counts.add('messages edited later, which have their last text');
  const userId = known.user ?? bot_id ?? username ?? null;
  const isBot = subtype === 'bot_message' || typeof bot_id === 'string';
  return {
    ...ORDINARY,
    id: `${channel.id}/${ts}`,
    conversationId: `t-${channel.id}/${opener}`,
    parentId: opener === ts ? null : `${channel.id}/${opener}`,
    time,
    skipped,
    byPerson: !isBot,
    author: userId === null ? null : { name: names.get(userId) ?? '', id: userId },
    channel,
    written,
  };
}

/** The text, or where there is none, as in the messages of many bots, what is attached. */
function readText({ text, attachments }: Message): string {
  if (typeof text === 'string' && text.trim() !== '') return text;
  const attached = (attachments ?? []).flatMap((raw) => {
    const known = parseOrNull(attachment, raw);
    if (known === null) return [];
    const parts = [known.pretext, known.title, known.text].filter(
      (part) => typeof part === 'string' && part.trim() !== '',
    );
    return parts.length > 0 ? parts : [known.fallback ?? ''];
  });
  return attached.join('\n');
}

function findSkipReason({ type, subtype }: Message, written: string): string | null {
  if (subtype === DELETED) return 'deleted messages';
  if (type !== 'message' || (typeof subtype === 'string' && !WRITTEN.includes(subtype))) return 'service messages';
  return written.trim() === '' ? 'files without a text' : null;
}

/** A reference of Slack: `<@U1>`, `<#C1|general>`, `<!here>`, `<https://x.example|a page>`. */
const REFERENCE = /<([^<>|]*)(?:\|([^<>]*))?>/g;
const ENTITIES: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&amp;': '&' };

function decodeEntities(text: string): string {
  return text.replace(/&(?:lt|gt|amp);/g, (entity) => ENTITIES[entity] as string);
}

/** The text as its reader sees it, with people and addresses replaced. @param userIds of people that the workspace knows. */
export function readSlackText(text: string, pseudonyms: Pseudonyms, userIds: ReadonlySet<string>): string {
  const readReference = (whole: string, target: string, label: string | undefined): string => {
    const id = target.slice(1);
    if (target.startsWith('@')) return userIds.has(id) ? pseudonyms.registerAuthor('', id) : 'somebody';
    if (target.startsWith('#')) return `#${label ?? id}`;
    if (target.startsWith('!')) return label ?? `@${id.split('^')[0]}`;
    return /^\w+:/.test(target) ? (label ?? target.replace(/^mailto:/, '')) : whole;
  };
  return pseudonyms.hide(decodeEntities(text.replace(REFERENCE, readReference))).trim();
}

/**
 * The channels of a Slack workspace. See docs/datasets/slack-export.md.
 *
 * @throws ValidationError for a file of another form, and if no message or no query is left; StorageError if the export cannot be read.
 */
export async function loadSlackExport(
  { path, ...choice }: ExportOptions,
  { progress = ignoreProgress }: Partial<DatasetContext> = {},
): Promise<Dataset> {
  const counts = new Counts();
  const messages = await readExport(path, async (files) => {
    const workspace = await readSlackWorkspace(files, counts);
    const all: SlackMessage[] = [];
    const days = workspace.channels.flatMap((channel) => channel.days.map((day) => ({ channel, day })));
    const stage = progress('days of channels', days.length);
    await mapWithBreaks(days, stage, async ({ channel, day }) => {
      const rows = await readJson(day, z.array(z.unknown()), 'an export of Slack whose days are lists of messages');
      for (const message of listSlackMessages(rows, channel, workspace.names, counts)) all.push(message);
    });
    stage.finish(`${all.length} messages`);
    return hidePeople(all, workspace);
  });
  const features = ['text', 'time', 'author (pseudonym)', 'channel', 'earlier reply links'];
  return buildExportDataset({ name: 'slack-export', path, features }, messages, choice, counts);
}

/** The messages with pseudonyms, of authors and of whom a text names. */
function hidePeople(messages: readonly SlackMessage[], { names }: SlackWorkspace): SourceMessage[] {
  const { pseudonyms, labels } = registerPeople(messages);
  // Who never wrote may still be named.
  for (const [id, name] of names) pseudonyms.registerAuthor(name, id);
  const userIds = new Set(names.keys());
  return messages.map(({ written, channel, ...message }, i) => ({
    ...message,
    author: labels[i] ?? null,
    channel: channel.name === null ? channel.id : pseudonyms.hide(channel.name),
    text: message.skipped === null ? readSlackText(written, pseudonyms, userIds) : '',
  }));
}
