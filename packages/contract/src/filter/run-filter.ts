import { parsePeriodMs } from '../period.ts';
import { runStatuses, type RunStatus } from '../status.ts';
import { parseInstant, type Unreadable } from '../duration.ts';
import { filterWords } from './words.ts';

/** The query of a list of runs, as strings. */
export type RunFilterQuery = Readonly<Record<string, string>>;

/** Keys that match any of several values: `status:failed,crashed`. */
const lists: Readonly<Record<string, string>> = {
  status: 'filter[status]',
  task: 'filter[taskIdentifier]',
  version: 'filter[version]',
  tag: 'filter[tag]',
  queue: 'filter[queue]',
  machine: 'filter[machine]',
  region: 'filter[region]',
};

const singles: Readonly<Record<string, string>> = {
  schedule: 'filter[schedule]',
  batch: 'filter[batch]',
  bulk: 'filter[bulkAction]',
  error: 'filter[errorText]',
  test: 'filter[isTest]',
  since: 'filter[createdAt][period]',
  from: 'filter[createdAt][from]',
  to: 'filter[createdAt][to]',
};

/** Descriptions of the keys, for completion and help. */
export const runFilterKeys: Readonly<Record<string, string>> = {
  status: 'one or several statuses: failed,crashed',
  task: 'task id',
  tag: 'a tag of the run',
  queue: 'queue name; task/<id> for the default queue of a task',
  version: 'version that executed it',
  since: 'created in the last 2h, 7d …',
  from: 'created at or after a time: 2026-11-21T10:00',
  to: 'created at or before a time',
  error: 'error text, or the id of an error group',
  schedule: 'id of a schedule',
  batch: 'id of a batch',
  bulk: 'id of a bulk action',
  machine: 'machine that the trigger requested',
  region: 'region that the trigger requested',
  test: 'true or false',
};

/** Alternative words for a status, as shown in the dashboard and the CLI. */
const statusWords: Readonly<Record<string, readonly RunStatus[]>> = {
  running: ['EXECUTING', 'DEQUEUED'],
  starting: ['DEQUEUED'],
  cancelled: ['CANCELED'],
  done: ['COMPLETED'],
};

/** The statuses of a filter word: `timed-out` is `TIMED_OUT`. Undefined if the word is unknown. */
export function statusesOfWord(text: string): readonly RunStatus[] | undefined {
  const lower = text.toLowerCase();
  if (Object.hasOwn(statusWords, lower)) return statusWords[lower];
  const name = runStatuses.find((status) => status === text.toUpperCase().replaceAll(/[- ]/g, '_'));
  return name && [name];
}

/** The filter word of a status. */
export const wordOfStatus = (status: RunStatus): string => status.toLowerCase().replaceAll('_', '-');

const isError = (value: unknown): value is Unreadable => typeof value === 'object' && value !== null;

function statusNames(values: readonly string[]): string | Unreadable {
  const names: RunStatus[] = [];
  for (const value of values) {
    const found = statusesOfWord(value);
    if (!found) {
      const known = runStatuses.map(wordOfStatus).join(', ');
      return { error: `"${value}" is not a status; write one of ${known}` };
    }
    names.push(...found);
  }
  return [...new Set(names)].join(',');
}

function singleValue(key: string, value: string): string | Unreadable {
  if (key === 'since' && parsePeriodMs(value) === undefined)
    return { error: `"${value}" is not a period; write a number and a unit, such as 30m, 2h or 7d` };
  if ((key === 'from' || key === 'to') && !/^\d{13}$/.test(value) && parseInstant(value) === undefined)
    return { error: `"${value}" is not a time; write a date such as 2026-11-21 or 2026-11-21T10:00` };
  if (key === 'test' && value !== 'true' && value !== 'false')
    return { error: `test is true or false, not "${value}"` };
  return value;
}

const parts = (value: string): string[] =>
  value
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);

/**
 * The list query for a text filter. For invalid input, the result is `{ error }`, a sentence with the valid format.
 *
 * @example
 * runFilterQuery('status:failed task:mail since:2h');
 * // { 'filter[status]': 'FAILED', 'filter[taskIdentifier]': 'mail', 'filter[createdAt][period]': '2h' }
 */
export function runFilterQuery(text: string): RunFilterQuery | Unreadable {
  const query: Record<string, string> = {};
  const paths: Record<'metadata' | 'payload', Record<string, string[]>> = { metadata: {}, payload: {} };
  const listed = new Map<string, string[]>();
  for (const { key, value } of filterWords(text)) {
    if (key === undefined)
      return {
        error: `"${value}" has no filter name; write one before it, such as task:${value} or error:${value}`,
      };
    if (value === '') continue;
    const path = /^(metadata|payload)\.(.+)$/.exec(key);
    if (path) {
      const of = paths[path[1] as 'metadata' | 'payload'];
      const name = path[2] as string;
      of[name] = [...(of[name] ?? []), ...parts(value)];
    } else if (Object.hasOwn(lists, key)) {
      listed.set(key, [...(listed.get(key) ?? []), ...parts(value)]);
    } else if (Object.hasOwn(singles, key)) {
      const read = singleValue(key, value);
      if (isError(read)) return read;
      const name = key === 'error' && value.startsWith('error_') ? 'filter[error]' : (singles[key] as string);
      query[name] = read;
    } else {
      const known = Object.keys(runFilterKeys).join(', ');
      return {
        error: `"${key}" is not a filter; write one of ${known}, metadata.… or payload.…`,
      };
    }
  }
  for (const [key, values] of listed) {
    const read = key === 'status' ? statusNames(values) : values.join(',');
    if (isError(read)) return read;
    query[lists[key] as string] = read;
  }
  for (const [name, of] of Object.entries(paths))
    if (Object.keys(of).length > 0) query[`filter[${name}]`] = JSON.stringify(of);
  return query;
}

export const isUnreadable = (read: RunFilterQuery | Unreadable): read is Unreadable => 'error' in read;
