/**
 * Remembers for each conversation what was made of its first turns the last time. Queries come in time order, so that most ask for the same number of turns as the
 * one before them, and memory stays linear in the turns.
 */
export function keepLatest<T>(
  make: (conversation: number, turns: number) => T,
): (conversation: number, turns: number) => T {
  const latest = new Map<number, { readonly turns: number; readonly made: T }>();
  return (conversation, turns) => {
    const known = latest.get(conversation);
    if (known?.turns === turns) return known.made;
    const made = make(conversation, turns);
    latest.set(conversation, { turns, made });
    return made;
  };
}
