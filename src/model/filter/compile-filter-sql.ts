import { ValidationError } from '../../core/errors/errors.ts';
import { freezeDeeply } from '../../core/values/once.ts';
import {
  type FieldValue,
  type Filter,
  type FilterComparison,
  type FilterValue,
  type FilterVariables,
  isOwnField,
  type OwnField,
  type ResolvedVariables,
  resolveValue,
  resolveVariables,
} from './filter.ts';
import { readFilter } from './filter-schema.ts';

/**
 * Names of columns: the turn's own fields and the jsonb object of attributes. `timestamp` is a number of milliseconds,
 * the other own fields are texts.
 */
export type FilterColumns = Readonly<Record<'attributes', string> & Partial<Record<OwnField, string>>>;

/** A filter as a condition of Postgres with numbered parameters. */
export interface FilterSql {
  /** A condition for `where`: true where the filter accepts the row, else false or null. */
  readonly sql: string;
  /** All of them strings, with a cast in `sql`. */
  readonly parameters: readonly string[];
}

/** The values of variables, and where the numbers of parameters begin. */
export interface FilterSqlOptions {
  readonly variables?: FilterVariables;
  /** The number of the first parameter; by default 1, `$1`. */
  readonly firstParameter?: number;
  /** The table or its alias, in front of every column. */
  readonly table?: string;
}

/** The columns that the tables of the package have. */
export const FILTER_COLUMNS = freezeDeeply({
  id: 'id',
  conversationId: 'conversation_id',
  parentId: 'parent_id',
  timestamp: 'created_at',
  author: 'author',
  channel: 'channel',
  attributes: 'attributes',
} as const satisfies FilterColumns);

/** A column as SQL sees it: a text, a number, or jsonb of any kind. */
interface Operand {
  readonly kind: 'text' | 'number' | 'json';
  /** Adds the key of an attribute to the parameters: Postgres refuses a parameter that the text does not use. */
  readonly sql: string;
}

const quoteName = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** Writes conditions, and collects their parameters. A condition that is null counts as false: `not` is `is not true`. */
class SqlWriter {
  readonly parameters: string[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #columns: FilterColumns;
  readonly #variables: ResolvedVariables;
  readonly #first: number;
  readonly #prefix: string;

  constructor(columns: FilterColumns, variables: ResolvedVariables, { firstParameter = 1, table }: FilterSqlOptions) {
    this.#columns = columns;
    this.#variables = variables;
    this.#first = firstParameter;
    this.#prefix = table === undefined ? '' : `${quoteName(table)}.`;
  }

  write(filter: Filter): string {
    switch (filter.op) {
      case 'and':
      case 'or':
        return `(${filter.of.map((inner) => this.write(inner)).join(` ${filter.op} `)})`;
      case 'not':
        return this.#negate(this.write(filter.of));
      case 'exists':
        return this.#negate(this.#writeNull(this.#findOperand(filter.field)));
      case 'in':
        return this.#writeIn(this.#findOperand(filter.field), filter.values);
      case 'contains':
        return this.#writeContains(this.#findOperand(filter.field), this.#resolve(filter.value));
      case 'between': {
        const operand = this.#findOperand(filter.field);
        const [low, high] = [this.#resolve(filter.low), this.#resolve(filter.high)];
        return `(${this.#writeOrder(operand, '>=', low)} and ${this.#writeOrder(operand, '<=', high)})`;
      }
      default:
        return this.#writeComparison(this.#findOperand(filter.field), filter.op, this.#resolve(filter.value));
    }
  }

  #resolve(value: FilterValue): FieldValue {
    return resolveValue(value, this.#variables);
  }

  #negate(condition: string): string {
    return `(${condition} is not true)`;
  }

  /** A parameter with its cast; equal ones share a number, since a statement has at most 65,535. */
  #add(value: string, type: string): string {
    const key = `${type} ${value}`;
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.#first + this.parameters.length;
      this.parameters.push(value);
      this.#numbers.set(key, number);
    }
    return `$${number}::${type}`;
  }

  #addJson(value: unknown): string {
    return this.#add(JSON.stringify(value), 'jsonb');
  }

  #findOperand(field: string): Operand {
    if (!isOwnField(field)) {
      const column = `${this.#prefix}${quoteName(this.#columns.attributes)}`;
      const write = () => `(${column} -> ${this.#add(field, 'text')})`;
      return {
        kind: 'json',
        get sql() {
          return write();
        },
      };
    }
    const name = this.#columns[field];
    if (name === undefined) {
      throw new ValidationError(
        `no column for the field ${field} of a filter; name the column or leave the field out`,
        {
          field,
        },
      );
    }
    return { kind: field === 'timestamp' ? 'number' : 'text', sql: `${this.#prefix}${quoteName(name)}` };
  }

  #writeNull({ kind, sql }: Operand): string {
    return kind === 'json' ? `(coalesce(jsonb_typeof(${sql}), 'null') = 'null')` : `(${sql} is null)`;
  }

  #writeComparison(operand: Operand, op: FilterComparison, value: FieldValue): string {
    if (op === '=') return this.#writeEqual(operand, value);
    if (op === '!=') return this.#negate(this.#writeEqual(operand, value));
    return this.#writeOrder(operand, op, value);
  }

  /** jsonb compares kind and value, numbers as `numeric`. */
  #writeEqual(operand: Operand, value: FieldValue): string {
    const { kind } = operand;
    if (value === null) return this.#writeNull(operand);
    if (kind === 'json') return `(${operand.sql} = ${this.#addJson(value)})`;
    if (kind === 'text') return typeof value === 'string' ? `(${operand.sql} = ${this.#add(value, 'text')})` : 'false';
    return typeof value === 'number' ? `(${operand.sql} = ${this.#addNumber(value, kind)})` : 'false';
  }

  /** One parameter for the whole list. */
  #writeIn(operand: Operand, values: readonly FilterValue[]): string {
    const resolved = values.map((value) => this.#resolve(value));
    const type = operand.kind === 'text' ? 'string' : 'number';
    const fitting = resolved.filter((value) => value !== null && (operand.kind === 'json' || typeof value === type));
    const conditions = resolved.includes(null) ? [this.#writeNull(operand)] : [];
    if (fitting.length > 0) {
      const list = this.#addJson(fitting);
      const elements = {
        json: `select jsonb_array_elements(${list})`,
        text: `select jsonb_array_elements_text(${list})`,
        number: `select jsonb_array_elements_text(${list})::double precision`,
      }[operand.kind];
      conditions.push(`(${operand.sql} in (${elements}))`);
    }
    return conditions.length === 0 ? 'false' : `(${conditions.join(' or ')})`;
  }

  #writeOrder(operand: Operand, op: string, value: FieldValue): string {
    const { kind } = operand;
    if (kind === 'json') return this.#writeJsonOrder(operand, op, value);
    if (typeof value !== (kind === 'text' ? 'string' : 'number')) return 'false';
    if (typeof value === 'number') return `(${operand.sql} ${op} ${this.#addNumber(value, 'number')})`;
    return `(${operand.sql} collate "C" ${op} ${this.#add(String(value), 'text')})`;
  }

  /** Collation C orders by the bytes of UTF-8. */
  #writeJsonOrder(operand: Operand, op: string, value: FieldValue): string {
    if (typeof value !== 'string' && typeof value !== 'number') return 'false';
    const { sql } = operand;
    const [kind, comparison] =
      typeof value === 'number'
        ? ['number', `${sql}::numeric ${op} ${this.#addNumber(value, 'json')}`]
        : ['string', `(${sql} #>> '{}') collate "C" ${op} ${this.#add(value, 'text')}`];
    return `(case when jsonb_typeof(${sql}) = '${kind}' then ${comparison} end)`;
  }

  /** The shortest decimals of two doubles have the order of the doubles, so that `numeric` compares attributes exactly. */
  #addNumber(value: number, kind: 'number' | 'json'): string {
    return this.#add(String(value), kind === 'json' ? 'numeric' : 'double precision');
  }

  #writeContains(operand: Operand, value: FieldValue): string {
    if (typeof value !== 'string' || operand.kind === 'number') return 'false';
    const { kind, sql } = operand;
    const text = this.#add(value, 'text');
    if (kind === 'text') return `(strpos(${sql}, ${text}) > 0)`;
    const inString = `when 'string' then strpos(${sql} #>> '{}', ${text}) > 0`;
    return `(case jsonb_typeof(${sql}) ${inString} when 'array' then ${sql} @> jsonb_build_array(${text}) end)`;
  }
}

/**
 * A filter as a condition of Postgres on a table with a column for each own field and one jsonb column of attributes. It
 * agrees with `compileFilter` on every row. Values and keys are parameters, names of columns are quoted. The database must
 * use UTF-8.
 *
 * @param filter a tree, or its text.
 * @throws InvalidFilterError for a wrong filter, missing variables, and a variable that no attribute may equal, as NaN.
 * @throws ValidationError for an own field without a column.
 */
export function compileFilterSql(
  filter: Filter | string,
  columns: FilterColumns = FILTER_COLUMNS,
  options: FilterSqlOptions = {},
): FilterSql {
  const tree = readFilter(filter);
  const writer = new SqlWriter(columns, resolveVariables(tree, options.variables), options);
  return { sql: writer.write(tree), parameters: writer.parameters };
}
