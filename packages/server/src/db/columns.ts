export type Value = string | number | Date | boolean | null | undefined;

/**
 * One column of many rows, for `unnest`. A column that is null in every row goes as one NULL: PostgreSQL pads it, and nothing is
 * written or parsed for it. Dates and booleans go as text (cast booleans as `::text[]::boolean[]`): the driver would take an array
 * that begins with one for a single value.
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
