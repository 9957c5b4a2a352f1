import { findEntities } from '../text/entities.ts';

/**
 * The concepts of a text and its title, each once, in the order of the text: what a {@link ConceptGraph} joins memories by. Tagging parts of speech takes
 * milliseconds a text.
 *
 * @param title null for none.
 */
export function listConcepts(text: string, title: string | null = null): string[] {
  const concepts = new Set(findEntities(text));
  if (title !== null && title.trim() !== '') concepts.add(title.trim().toLowerCase());
  return [...concepts];
}
