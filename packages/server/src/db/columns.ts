import type { Fragment, Queryable } from './connect.ts';

export type Value = string | number | Date | boolean | null | undefined;

/**
 * One column of many rows, for `unnest`. A column that is null in every row is sent as one NULL, which PostgreSQL pads. Dates and booleans
 * are sent as text (cast booleans as `::text[]::boolean[]`): the driver would treat an array that begins with such a value as a single
 * value.
 */
export function column<T>(rows: readonly T[], pick: (row: T) => Value): (string | number | null)[] | null {
  let some = false;
  const values = rows.map((row) => {
    const value = pick(row) ?? null;
    if (value === null) return null;
    some = true;
    if (value instanceof Date) return value.toISOString();
    return typeof value === 'boolean' ? String(value) : value;
  });
  return some ? values : null;
}

const separator = '\u001f';
const absent = '\u001e';

/**
 * One column of long texts, as `text[]`. It is sent as one text, which costs a third as much as an array, where each JSON quote is escaped and
 * parsed again.
 */
export function texts<T>(sql: Queryable, rows: readonly T[], pick: (row: T) => string | null): Fragment {
  const values = rows.map(pick);
  const joined = values.map((value) => value ?? absent).join(separator);
  // `string_to_array` turns an empty text into an empty array.
  if (
    joined === '' ||
    values.some((value) => value !== null && (value.includes(separator) || value === absent))
  ) {
    return sql`${values}::text[]`;
  }
  return sql`string_to_array(${joined}, ${separator}, ${absent})`;
}
