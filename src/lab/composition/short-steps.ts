import { isPlain, type Path, type Plain } from './config-file.ts';

const expandName = (content: unknown) => (typeof content === 'string' ? { [content]: {} } : content);

/** Step -> what its short form stands for. */
const EXPANSIONS: Readonly<Record<string, (content: unknown) => unknown>> = {
  decay: (content) => (typeof content === 'number' ? { halfLifeHours: content } : content),
  mix: (content) => (typeof content === 'string' ? { weights: content } : content),
  blend: (content) =>
    isPlain(content)
      ? Object.fromEntries(
          Object.entries(content).map(([name, part]) => [name, typeof part === 'number' ? { weight: part } : part]),
        )
      : content,
  fuse: expandName,
  rerank: expandName,
  select: expandName,
};

/** The options of a step in full, so that paths lead through them: `decay: 24` is `decay: { halfLifeHours: 24 }`. */
export function expandShortStep(name: string, content: unknown): unknown {
  return EXPANSIONS[name]?.(content) ?? content;
}

/** The same for a value at a path within an arm: the options of a step, or one blend. */
export function expandShortValue([name = '', part, ...rest]: Path, value: unknown): unknown {
  if (part === undefined) return expandShortStep(name, value);
  const isBlend = name === 'blend' && rest.length === 0;
  return isBlend ? (expandShortStep(name, { [part]: value }) as Plain)[part] : value;
}

/** The same for each step of a part of an arm. */
export function expandShortSteps(arm: Plain): Plain {
  return Object.fromEntries(Object.entries(arm).map(([name, content]) => [name, expandShortStep(name, content)]));
}
