import { createExportSchema } from '../exports/export-options.ts';

export const claudeExport = {
  options: createExportSchema('claude-export', 'continuation', {}),
  description: 'your own chats with Claude, an export: the last message of a chat must find the rest of it',
  licence: 'yours',
  source: 'Settings, Privacy, Export data, as docs/datasets/claude-export.md says',
};
