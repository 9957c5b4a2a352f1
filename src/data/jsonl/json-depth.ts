/** Deeper than any row of a dataset. What walks a value calls itself for each level, so that a deeper one could overflow the stack. */
export const DEEPEST = 256;

/** The depth of the arrays and objects of a JSON text; of another text, some number. */
export function measureJsonDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (quoted) {
      if (character === '\\') i++;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === '[' || character === '{') deepest = Math.max(deepest, ++depth);
    else if (character === ']' || character === '}') depth--;
  }
  return deepest;
}

/** The error of the depth of a JSON text, null if it is allowed. */
export function describeDepthFault(text: string): string | null {
  const depth = measureJsonDepth(text);
  return depth > DEEPEST ? `nested ${depth} deep, where at most ${DEEPEST} is read` : null;
}
