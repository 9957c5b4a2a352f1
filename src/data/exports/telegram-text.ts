import { z } from 'zod';
import type { Pseudonyms } from '../mail/pseudonyms.ts';

const entity = z.object({ type: z.string(), text: z.string(), user_id: z.number().nullish() });
type Entity = z.output<typeof entity>;

/** A text, or its parts: plain ones, and entities such as links and mentions. */
export const telegramText = z.union([z.string(), z.array(z.union([z.string(), entity]))]);
export type TelegramText = z.output<typeof telegramText>;

/** Entities that identify a person by something else than a name. */
const PRIVATE: Readonly<Record<string, string>> = {
  phone: '[phone]',
  bank_card: '[bank card]',
};

/** The text as it was written. */
export function joinTelegramText(text: TelegramText): string {
  if (typeof text === 'string') return text;
  return text.map((part) => (typeof part === 'string' ? part : part.text)).join('');
}

/** The text with people and addresses replaced: an account such as `@ana` is an address. */
export function hideTelegramText(text: TelegramText, pseudonyms: Pseudonyms): string {
  if (typeof text === 'string') return pseudonyms.hide(text);
  const hideEntity = ({ type, text: said, user_id }: Entity): string => {
    if (type === 'mention_name' && typeof user_id === 'number') return pseudonyms.registerAuthor('', `user${user_id}`);
    return type === 'mention' ? `${said.replace(/^@/, '')}@telegram` : (PRIVATE[type] ?? said);
  };
  return pseudonyms.hide(text.map((part) => (typeof part === 'string' ? part : hideEntity(part))).join(''));
}
