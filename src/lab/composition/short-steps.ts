import { isPlain, type Path, type Plain } from './config-file.ts';

const expandName = (content: unknown) => (typeof content === 'string' ? { [content]: {} } : content);

/** Step -> what its short form stands for. */
const EXPANSIONS: Readonly<Record<string, (content: unknown) => unknown>> = {
  decay: (content) => (typeof content === 'number' ? { halfLifeHours: content } : content),
  pack: (content) => (typeof content === 'number' ? { tokens: content } : content),
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

/** The kind of a step of an arm by its name. */
export const readStepKind = ({ as }: Plain, name: string): string =>
  isPlain(as) && Object.hasOwn(as, name) ? String(as[name]) : name;

/** The same for a value at a path within an arm: the options of a step, or one blend. */
export function expandShortValue(arm: Plain, [name = '', part, ...rest]: Path, value: unknown): unknown {
  const kind = readStepKind(arm, name);
  if (part === undefined) return expandShortStep(kind, value);
  const isBlend = kind === 'blend' && rest.length === 0;
  return isBlend ? (expandShortStep(kind, { [part]: value }) as Plain)[part] : value;
}

/** The same for each step of a part of an arm. */
export function expandShortSteps(arm: Plain, part: Plain): Plain {
  const entries = Object.entries(part);
  return Object.fromEntries(
    entries.map(([name, content]) => [name, expandShortStep(readStepKind(arm, name), content)]),
  );
}
