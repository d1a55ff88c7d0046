import type { Fragment, Queryable } from '../../db/connect.ts';
import { bitOfWord, bitsOfText, levelWord, taskWord } from './terms.ts';
import { propertiesOf, type StoredLine } from './line.ts';

/** A filter for lines. All given fields must match. */
export interface LineFilter {
  readonly tasks?: readonly string[] | undefined;
  readonly levels?: readonly string[] | undefined;
  readonly text?: string | undefined;
  /** A property, such as `customer.id=42`. */
  readonly property?: string | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

const pathAndValue = (property: string): { path: string[]; value: string } => {
  const end = property.indexOf('=');
  return { path: property.slice(0, end).split('.'), value: property.slice(end + 1) };
};

/** The form of a text within JSON. */
const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);
const pattern = (text: string): string => `%${text.replace(/[\\%_]/g, String.raw`\$&`)}%`;

/** The condition on a line `l`. The value of a property is only searched for as text; `matches` checks the rest. */
export function lineCondition(
  sql: Queryable,
  { tasks, levels, text, property, from, to }: LineFilter,
): Fragment {
  const value = property === undefined ? undefined : pathAndValue(property).value;
  return sql`
    (${levels ?? null}::text[] is null or l.level = any(${levels ?? null}::text[]))
      and (${from ?? null}::timestamptz is null or l.at >= ${from ?? null}::timestamptz)
      and (${to ?? null}::timestamptz is null or l.at <= ${to ?? null}::timestamptz)
      and (${text === undefined ? null : pattern(text)}::text is null
           or l.message ilike ${text === undefined ? null : pattern(text)}::text
           or l.properties ilike ${text === undefined ? null : pattern(inJson(text))}::text)
      and (${value === undefined ? null : pattern(inJson(value))}::text is null
           or l.properties ilike ${value === undefined ? null : pattern(inJson(value))}::text)
      and (${tasks ?? null}::text[] is null or (select r.task from runs r where r.env = l.env and r.id = l.run_id) = any(${tasks ?? null}::text[]))`;
}

/** Whether a line that the condition found has the property. */
export function matches({ property }: LineFilter, line: Pick<StoredLine, 'properties'>): boolean {
  if (property === undefined) return true;
  const { path, value } = pathAndValue(property);
  let at: unknown = propertiesOf(line);
  for (const name of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return false;
    at = (at as Record<string, unknown>)[name];
  }
  return (typeof at === 'object' ? JSON.stringify(at) : String(at)) === value;
}

/** More bits exclude few additional blocks, and each one must be read. */
const maxBits = 16;

/** The bits that a block of lines must have: all of `all`, one of `tasks` and one of `levels`. */
export function bitsOf({ tasks, levels, text, property }: LineFilter) {
  const all = new Set<number>();
  // The text may be in the message verbatim, or in the properties as JSON: without special characters these are the same.
  if (text !== undefined && inJson(text) === text) for (const bit of bitsOfText(text)) all.add(bit);
  if (property !== undefined) {
    const { path, value } = pathAndValue(property);
    for (const part of [...path, value]) for (const bit of bitsOfText(inJson(part))) all.add(bit);
  }
  return {
    all: [...all].slice(0, maxBits),
    tasks: tasks?.map((task) => bitOfWord(taskWord(task))),
    levels: levels?.map((level) => bitOfWord(levelWord(level))),
  };
}
