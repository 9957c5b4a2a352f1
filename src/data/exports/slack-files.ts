import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { parseOrNull } from '../../core/validation/validation.ts';
import type { Counts } from '../prepared/counts.ts';
import { type ExportFile, type ExportFiles, findExportFiles } from './export-files.ts';
import { readJson } from './export-json.ts';

const user = z.object({
  id: z.string(),
  name: z.string().nullish(),
  real_name: z.string().nullish(),
  profile: z.object({ real_name: z.string().nullish(), display_name: z.string().nullish() }).nullish(),
});

const channel = z.object({ id: z.string(), name: z.string().nullish() });

/** A channel, a private channel or a conversation of some people. */
export interface SlackChannel {
  readonly id: string;
  /** Null for conversations of some people, which are named by their members. */
  readonly name: string | null;
  /** In the order of their days. */
  readonly days: readonly ExportFile[];
}

export interface SlackWorkspace {
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
export async function readSlackWorkspace(files: ExportFiles, counts: Counts): Promise<SlackWorkspace> {
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

/** What the lists say of a folder. */
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
