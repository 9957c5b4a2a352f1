import { QueryError } from '../../../core/errors/errors.ts';

/** Texts, quoted names and comments, in which `$name` is no parameter; then parameters. */
const TOKENS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\$(\w+)|[^'"$/-]+|[\s\S]/g;

/** SQL with `$1`, `$2`, … for the values of `names`, in this order. */
export interface SqlTemplate {
  readonly sql: string;
  readonly names: readonly string[];
}

/**
 * Reads SQL with parameters such as `$entity`. A parameter stands for a value that is bound, and for nothing else: what it holds is never read as SQL.
 *
 * @param known the parameters that there are.
 * @throws QueryError for an unknown parameter.
 */
export function readSqlTemplate(text: string, known: readonly string[]): SqlTemplate {
  const names: string[] = [];
  const parts = [...text.matchAll(TOKENS)].map(([token, name]) => {
    if (name === undefined) return token;
    if (!known.includes(name))
      throw new QueryError(`SQL has an unknown parameter: $${name}; use ${known.map((one) => `$${one}`).join(', ')}`, {
        name,
        sql: text,
      });
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return { sql: parts.join('').trim().replace(/;$/, ''), names };
}
