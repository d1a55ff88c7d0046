import { raw, Sql as Template } from 'sql-template-tag';
import { column, texts } from '../../db/columns.ts';
import type { Queryable } from '../../db/connect.ts';
import type { Column, NewRun } from './row.ts';

/** Parts of the statements that insert runs, made from lists of columns. They are made once; only the values differ from call to call. */

type Columns = Readonly<Record<string, Column>>;

/** `env, id, …` */
export const namesOf = (columns: Columns): Template =>
  raw(
    Object.values(columns)
      .map(({ name }) => name)
      .join(', '),
  );

/** `i.env, i.id, …`: what is written of the row `i`. */
export const writtenOf = (columns: Columns): Template =>
  raw(
    Object.values(columns)
      .map(({ name, written = `i.${name}` }) => written)
      .join(', '),
  );

const arrayType = (type: Column['type']): string =>
  // The driver sends such arrays as text.
  type === 'boolean' || type === 'jsonb' ? `text[]::${type}[]` : `${type}[]`;

/** `$1::int[], $2::text[], …`: an array for each column. */
export const arraysOf = (columns: Columns) =>
  parameters(columns, ({ type }) => ['', `::${arrayType(type)}`], arrayOf);

/** The same, but that the columns in `long` are sent as one text each, which is cheaper where many runs have them. */
export const compactArraysOf = (columns: Columns, long: readonly string[]) =>
  parameters(
    columns,
    ({ name, type }) => ['', long.includes(name) ? '' : `::${arrayType(type)}`],
    ({ sql, runs }: { readonly sql: Queryable; readonly runs: readonly NewRun[] }, { name, value }) =>
      long.includes(name) ? texts(sql, runs, (run) => value(run) as string | null) : column(runs, value),
  );

/** `$1::int[] as env, $2::text[] as id, …`: an array for each column. */
export const namedArraysOf = (columns: Columns) =>
  parameters(columns, ({ name, type }) => ['', `::${arrayType(type)} as ${name}`], arrayOf);

/** `$1::int as env, $2::text as id, …`: the values of one run. */
export const valuesOf = (columns: Columns) =>
  parameters(
    columns,
    ({ name, type }) => ['', `::${type} as ${name}`],
    (run: NewRun, { value }) => value(run) ?? null,
  );

const arrayOf = (runs: readonly NewRun[], { value }: Column) => column(runs, value);

/** A parameter for each column, between the pieces of text that `around` gives. */
function parameters<T>(
  columns: Columns,
  around: (column: Column) => readonly [before: string, after: string],
  valueOf: (given: T, column: Column) => unknown,
): (given: T) => Template {
  const list = Object.values(columns);
  const pieces = list.map(around);
  const strings = [...pieces, ['', '']].map(
    ([before], index) =>
      (index === 0 ? '' : `${pieces[index - 1]?.[1]}${index < list.length ? ', ' : ''}`) + before,
  );
  return (given) =>
    new Template(
      strings,
      list.map((one) => valueOf(given, one)),
    );
}
