import type { z } from 'zod';

/**
 * A schema whose choices may grow: it is built again after each change of them, and schemas that contain it follow. A process adds choices before
 * it parses what names them.
 *
 * @param build the schema of the choices that there are.
 * @param count how often they changed.
 */
export function createOpenSchema<S extends z.ZodType>(build: () => S, count: () => number): S {
  const outer = build();
  let built = { count: count(), schema: build() };
  const current = () => {
    if (built.count !== count()) built = { count: count(), schema: build() };
    return built.schema;
  };
  const parse: S['_zod']['parse'] = (payload, context) => current()._zod.run(payload, context);
  outer._zod.parse = parse;
  outer._zod.run = parse;
  // Hints for unknown keys and JSON schemas read these.
  for (const key of ['options', 'entries'])
    if (key in outer._zod.def)
      Object.defineProperty(outer._zod.def, key, { get: () => Reflect.get(current()._zod.def, key) as unknown });
  return outer;
}
