import type { Turn } from '../../model/turns/turn.ts';

/** The title of a turn: its attribute `title`, if that is a text; null for none. */
export function readTitle({ attributes }: Turn): string | null {
  const title = attributes?.title;
  return typeof title === 'string' ? title : null;
}
