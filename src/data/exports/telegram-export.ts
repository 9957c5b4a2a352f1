import { ignoreProgress, mapWithBreaks } from '../../core/terminal/progress.ts';
import type { Dataset } from '../../model/dataset.ts';
import { Counts } from '../prepared/counts.ts';
import type { DatasetContext } from '../prepared/datasets.ts';
import { buildExportDataset, type ExportOptions } from './export-dataset.ts';
import { findExportFiles, readExport } from './export-files.ts';
import { readJson } from './export-json.ts';
import { registerPeople, type SourceMessage } from './source-message.ts';
import { hideTelegramText, listTelegramChats, listTelegramMessages, telegramResult } from './telegram-chats.ts';
import { linkTelegramMessages, type PlacedMessage } from './telegram-links.ts';

/** An export of Telegram Desktop; a message without a reply link starts a conversation after `silenceHours` hours of silence. */
export interface TelegramExportOptions extends ExportOptions {
  /** A message without a reply link continues the message before it, unless more hours than this lie between them. */
  readonly silenceHours: number;
}

const HOUR = 3_600_000;

/**
 * Your own chats on Telegram, one or all. See docs/datasets/telegram-export.md.
 *
 * @throws ValidationError for a file of another form, and if no message or no query is left; StorageError if the export cannot be read.
 */
export async function loadTelegramExport(
  { path, silenceHours, ...choice }: TelegramExportOptions,
  { progress = ignoreProgress }: Partial<DatasetContext> = {},
): Promise<Dataset> {
  const counts = new Counts();
  const expected = 'the result.json of an export of Telegram Desktop';
  const placed = await readExport(path, async (files): Promise<PlacedMessage[]> => {
    const all: PlacedMessage[] = [];
    for (const file of findExportFiles(files, /^result\.json$/, 'result.json')) {
      const chats = listTelegramChats(await readJson(file, telegramResult, expected), counts);
      const stage = progress('chats', chats.length);
      await mapWithBreaks(chats, stage, (chat) => {
        for (const one of linkTelegramMessages(chat, listTelegramMessages(chat, counts), silenceHours * HOUR))
          all.push(one);
      });
      stage.finish();
    }
    return all;
  });
  const features = ['text', 'time', 'author (pseudonym)', 'channel (chat and topic)', 'earlier reply links'];
  return buildExportDataset({ name: 'telegram-export', path, features }, hidePeople(placed), choice, counts);
}

/** The messages with pseudonyms: of authors, of whom a text names, and of whom a chat is with. */
function hidePeople(placed: readonly PlacedMessage[]): SourceMessage[] {
  const { pseudonyms, labels } = registerPeople(placed.map(({ message }) => message));
  const nameChannel = ({ name, withPerson, topic }: PlacedMessage['channel']): string => {
    const chat = withPerson === null ? pseudonyms.hide(name) : pseudonyms.registerAuthor(name, withPerson);
    return topic === null ? chat : `${chat}/${pseudonyms.hide(topic)}`;
  };
  return placed.map(({ message, channel, ...rest }, i) => ({
    ...rest,
    author: labels[i] ?? null,
    channel: nameChannel(channel),
    text: message.skipped === null ? hideTelegramText(message.text, pseudonyms).trim() : '',
  }));
}
