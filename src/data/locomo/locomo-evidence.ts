const DIALOGUE_IDS = /D:?(\d+):(\d+)/g;

/** The dialogue ids in a text as `3:7` for turn 7 of session 3, with any zeros and colons. */
export function parseDialogueKeys(text: string): string[] {
  return [...text.matchAll(DIALOGUE_IDS)].map(([, session, turn]) => `${Number(session)}:${Number(turn)}`);
}

/** The turns that the evidence of a question names. */
interface Evidence {
  /** The turns that are there, once each, in the order in which they are named. */
  readonly turnIds: readonly string[];
  /** The number of dialogue ids that name no turn. */
  readonly unknown: number;
  /** The number of strings without a dialogue id. */
  readonly empty: number;
}

/**
 * Reads dialogue ids out of strings that people have typed: `D8:6; D9:17` is two, `D30:05` is D30:5, `D:11:26` is D11:26.
 *
 * @param turns the id of the turn by its dialogue key.
 */
export function repairEvidence(strings: readonly string[], turns: ReadonlyMap<string, string>): Evidence {
  const named = strings.map(parseDialogueKeys);
  const keys = [...new Set(named.flat())];
  const turnIds = keys.flatMap((key) => turns.get(key) ?? []);
  return {
    turnIds,
    unknown: keys.length - turnIds.length,
    empty: named.filter((ids) => ids.length === 0).length,
  };
}
