/**
 * Puts conversations of about the same length together until a pack is full, so that the products of a pack are as
 * large as a device likes them.
 *
 * @param lengths turns of each conversation
 * @param capacity turns of a pack; a longer conversation is a pack of its own
 * @returns packs of indices of conversations, the longest first
 */
export function packConversations(lengths: readonly number[], capacity: number): number[][] {
  const packs: number[][] = [];
  let room = 0;
  const longestFirst = [...lengths.keys()].sort((a, b) => (lengths[b] as number) - (lengths[a] as number) || a - b);
  for (const conversation of longestFirst) {
    const turns = lengths[conversation] as number;
    if (packs.length === 0 || turns > room) {
      packs.push([]);
      room = capacity;
    }
    packs.at(-1)?.push(conversation);
    room -= turns;
  }
  return packs;
}
