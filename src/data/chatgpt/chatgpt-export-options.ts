import { createExportSchema } from '../exports/export-options.ts';

export const chatGptExport = {
  options: createExportSchema('chatgpt-export', 'continuation', {}),
  description: 'your own chats with ChatGPT, an export: the last message of a chat must find the rest of it',
  licence: 'yours',
  source: 'Settings, Data controls, Export data, as docs/datasets/chatgpt-export.md says',
};
