import { findConcepts } from '../../model/text/concepts.ts';
import { findEntities } from '../../model/text/entities.ts';
import type { Turn } from '../../model/turns/memory-record.ts';

/** What is a concept of a text: its names, quoted titles and numbers, or its noun phrases, names and quoted titles. */
export type TextConceptSource = 'names' | 'phrases';

/**
 * The concepts of a text and its title, each once, in the order of the text: what a {@link ConceptGraph} joins memories by. Tagging parts of speech takes
 * milliseconds a text.
 *
 * @param title null for none.
 */
export function listConcepts(text: string, title: string | null = null, source: TextConceptSource = 'names'): string[] {
  if (source === 'phrases') return findConcepts(text, title ?? undefined).map(({ form }) => form);
  const concepts = new Set(findEntities(text));
  if (title !== null && title.trim() !== '') concepts.add(title.trim().toLowerCase());
  return [...concepts];
}

/** The title of a turn: its attribute `title`, if that is a text; null for none. */
export function readTitle({ attributes }: Turn): string | null {
  const title = attributes?.title;
  return typeof title === 'string' ? title : null;
}
