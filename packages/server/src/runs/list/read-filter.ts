import type { Operations, Query } from '@millrace/contract';
import type { Queryable } from '../../db/connect.ts';
import { saysText } from '../../errors/list/filters.ts';
import { tally } from '../../errors/record/tally.ts';
import { badRequest } from '../../problem.ts';
import { findPathFacets } from '../paths/find.ts';
import type { RunFilter } from './filter.ts';

export type ListRunsQuery = Query<Operations['listRuns']>;

const defaultPeriodMs = 7 * 86_400_000;
const earliest = Date.UTC(1970, 0, 1);
const latest = Date.UTC(9999, 11, 31);

/** The filter of a request, with names resolved to ids. Undefined if nothing can match: no such queue or version. */
export async function readFilter(
  sql: Queryable,
  envs: readonly number[],
  query: ListRunsQuery,
  now: number,
): Promise<RunFilter | undefined> {
  const tasks = listed(query['filter[taskIdentifier]']);
  const tags = listed(query['filter[tag]']);
  const schedule = query['filter[schedule]'];
  const error = query['filter[error]'];
  const statuses = listed(query['filter[status]']);
  const machines = listed(query['filter[machine]']);
  const queueNames = listed(query['filter[queue]']);
  const versionNames = listed(query['filter[version]']);
  const bulkAction = query['filter[bulkAction]'];
  const batch = query['filter[batch]'];
  // The runs are found by a prefix of their ids; any other text would match all runs.
  if (batch !== undefined && !/^batch_[0-9a-z]{24}$/.test(batch)) return undefined;
  const regions = listed(query['filter[region]']);
  const errorText = query['filter[errorText]'];
  const texts = [
    errorText,
    tasks,
    tags,
    queueNames,
    versionNames,
    regions,
    schedule,
    batch,
    error,
    bulkAction,
  ].flat();
  if (envs.length === 0 || texts.some((text) => text?.includes('\u0000'))) return undefined;
  const [queues, versions, errors, matching, paths] = await Promise.all([
    queueNames && findQueues(sql, envs, queueNames),
    versionNames && findVersions(sql, envs, versionNames),
    error === undefined ? undefined : findFingerprints(sql, envs, error),
    errorText === undefined ? undefined : findSaying(sql, envs, errorText),
    findPathFacets(sql, envs, query),
  ]);
  const found = errors && matching ? errors.filter((id) => matching.includes(id)) : (errors ?? matching);
  if (queues?.length === 0 || versions?.length === 0 || found?.length === 0) return undefined;
  const isTest = query['filter[isTest]'];
  return {
    envs,
    statuses,
    tasks,
    tags,
    machines,
    regions,
    queues,
    versions,
    schedule,
    batch,
    bulkAction,
    errors: found,
    paths,
    isTest: isTest === undefined ? undefined : isTest === 'true',
    ...rangeOf(query, now),
  };
}

/** An empty list does not filter. */
const listed = <T>(values: readonly T[] | undefined) => (values?.length === 0 ? undefined : values);

function rangeOf(query: ListRunsQuery, now: number): Pick<RunFilter, 'from' | 'to'> {
  const period = query['filter[createdAt][period]'];
  const from = query['filter[createdAt][from]'];
  const to = query['filter[createdAt][to]'];
  if (period === undefined && (from ?? to) !== undefined) {
    return { from: from && storable(from.getTime()), to: to && storable(to.getTime()) };
  }
  return { from: storable(now - (period ?? defaultPeriodMs)) };
}

/** A request may name a date that PostgreSQL cannot store; no run was created then. */
const storable = (ms: number): Date => new Date(Math.min(latest, Math.max(earliest, ms)));

const findQueues = (sql: Queryable, envs: readonly number[], names: readonly string[]) =>
  sql<{ id: number; name: string }[]>`
    select id, name from queues where env = any(${envs}::int[]) and name = any(${names}::text[])`;

/**
 * The fingerprints of an error group, or of the one that it was merged into. Their runs are known once all occurrences have been tallied.
 */
async function findFingerprints(sql: Queryable, envs: readonly number[], error: string): Promise<number[]> {
  for (const env of envs) await tally(sql, env);
  const rows = await sql<{ id: number }[]>`
    select f.id from error_fingerprints f
     where f.env = any(${envs}::int[])
       and f.group_id = coalesce((select g.merged_into from error_groups g where g.env = f.env and g.id = ${error}), ${error})`;
  return rows.map((row) => row.id);
}

/** Maximum number of error groups that a text search may match. */
export const maxSaying = 500;

/** The fingerprints of the error groups that contain a text. 400 if there are too many to list their runs. */
async function findSaying(sql: Queryable, envs: readonly number[], text: string): Promise<number[]> {
  for (const env of envs) await tally(sql, env);
  const rows = await sql<{ id: number }[]>`
    select f.id from unnest(${envs}::int[]) as e (env)
      cross join lateral (
        select x.group_id from error_texts x where x.env = e.env and ${saysText(sql, text)} limit ${maxSaying + 1}) x
      join error_fingerprints f on f.env = e.env and f.group_id = x.group_id
     limit ${maxSaying + 1}`;
  if (rows.length <= maxSaying) return rows.map((row) => row.id);
  throw badRequest(
    `filter[errorText]: more than ${maxSaying} errors contain this text. Send a longer part of it.`,
  );
}

async function findVersions(
  sql: Queryable,
  envs: readonly number[],
  names: readonly string[],
): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select id from versions where env = any(${envs}::int[]) and version = any(${names}::text[])`;
  return rows.map((row) => row.id);
}
