import { raw, Sql as Template } from 'sql-template-tag';
import { column, texts } from '../../db/columns.ts';
import type { Queryable } from '../../db/connect.ts';
import type { Column, NewRun } from './row.ts';

/** Parts of the statements that insert runs, from lists of columns. They are built once; only the values differ from call to call. */

type Columns = Readonly<Record<string, Column>>;

/** `env, id, …` */
export const namesOf = (columns: Columns): Template =>
  raw(
    Object.values(columns)
      .map(({ name }) => name)
      .join(', '),
  );

/** `$1::int as env, $2::text as id, …`: the values of one run. */
export const valuesOf = (columns: Columns) =>
  parameters(columns, ({ name, type }) => ['', `::${type} as ${name}`], valueOf);

interface Batch {
  readonly sql: Queryable;
  readonly runs: readonly NewRun[];
}

/** `$1::int[], $2::text[], …`: an array for each column. Columns in `long` are sent as one text, which is cheaper if many runs have them. */
export const arraysOf = (columns: Columns, long: readonly string[] = []) =>
  parameters(
    columns,
    ({ name, type }) => ['', long.includes(name) ? '' : `::${arrayType(type)}`],
    ({ sql, runs }: Batch, { name, value }) =>
      long.includes(name) ? texts(sql, runs, (run) => value(run) as string | null) : column(runs, value),
  );

interface Shape {
  /** Columns that are sent for each run. */
  readonly each: Columns;
  /** Columns in which all runs have the value of the first. */
  readonly once?: Columns;
  readonly long?: readonly string[];
}

/** `array(select new_run(env => …) from unnest($1::int[], …))`: an argument of `create_runs`. Attributes without a column are null. */
export function newRunsOf({ each, once = {}, long = [] }: Shape): (batch: Batch) => Template {
  const shared = parameters(once, ({ name, type }) => [`${name} => `, `::${type}`], valueOf);
  const arrays = arraysOf(each, long);
  const named = Object.values(each)
    .map(({ name, isArray }) => `${name} => i.${name}${isArray ? '::text[]' : ''}`)
    .join(', ');
  const isShared = Object.keys(once).length > 0;
  const [before, between, after] = [
    'array(select new_run(',
    `${isShared ? ', ' : ''}${named}) from unnest(`,
    `) as i (${namesOf(each).sql}))`,
  ];
  return (batch) => new Template([before, between, after], [shared(batch.runs[0] as NewRun), arrays(batch)]);
}

const valueOf = (run: NewRun, { value }: Column): unknown => value(run) ?? null;

const arrayType = (type: Column['type']): string =>
  // The driver sends such arrays as text.
  type === 'boolean' || type === 'jsonb' ? `text[]::${type}[]` : `${type}[]`;

/** A parameter for each column, between the pieces of text from `around`. */
function parameters<T>(
  columns: Columns,
  around: (column: Column) => readonly [before: string, after: string],
  pick: (source: T, column: Column) => unknown,
): (source: T) => Template {
  const list = Object.values(columns);
  const pieces = list.map(around);
  const strings = [...pieces, ['', '']].map(
    ([before], index) =>
      (index === 0 ? '' : `${pieces[index - 1]?.[1]}${index < list.length ? ', ' : ''}`) + before,
  );
  return (source) =>
    new Template(
      strings,
      list.map((each) => pick(source, each)),
    );
}
