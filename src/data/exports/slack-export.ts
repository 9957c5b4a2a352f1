import { z } from 'zod';
import { ignoreProgress, mapWithBreaks } from '../../core/terminal/progress.ts';
import type { Dataset } from '../../model/dataset.ts';
import type { Pseudonyms } from '../mail/pseudonyms.ts';
import { Counts } from '../prepared/counts.ts';
import type { DatasetContext } from '../prepared/datasets.ts';
import { buildExportDataset, type ExportOptions } from './export-dataset.ts';
import { readExport } from './export-files.ts';
import { readJson } from './export-json.ts';
import { readSlackWorkspace, type SlackWorkspace } from './slack-files.ts';
import { listSlackMessages, type SlackMessage } from './slack-messages.ts';
import { registerPeople, type SourceMessage } from './source-message.ts';

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
