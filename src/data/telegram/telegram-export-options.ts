import { z } from 'zod';
import { createExportSchema } from '../exports/export-options.ts';

export const telegramExport = {
  options: createExportSchema('telegram-export', 'replies', {
    /** A message without a reply link continues the message before it, unless more hours than this lie between them. */
    silenceHours: z.number().positive().default(8),
  }),
  description:
    'your own chats on Telegram, an export of Telegram Desktop: a reply must find the message that it answers',
  licence: 'yours',
  source: 'Telegram Desktop, Export chat history, JSON, as docs/datasets/telegram-export.md says',
};
