import type { ErrorGroupDetail } from '@millrace/contract';
import type { Queryable } from '../../db/connect.ts';
import { detailColumns, detailOf, type DetailRow } from './detail.ts';
import { tally } from '../record/tally.ts';

const errorIdPattern = /^error_[0-9a-f]{16}$/;

/** Whether a text has the form of an error group's id. */
export const isErrorId = (text: string): boolean => errorIdPattern.test(text);

/** The error group with an id, or its target if it was merged; undefined if the environment has no group with this id. */
export async function retrieveErrorGroup(
  sql: Queryable,
  env: number,
  id: string,
  now: Date,
): Promise<ErrorGroupDetail | undefined> {
  if (!isErrorId(id)) return undefined;
  await tally(sql, env);
  return readErrorGroup(sql, env, id, now);
}

/** Like `retrieveErrorGroup`, without first counting the arrivals. */
export async function readErrorGroup(
  sql: Queryable,
  env: number,
  id: string,
  now: Date,
): Promise<ErrorGroupDetail | undefined> {
  const [row] = await sql<DetailRow[]>`
    select ${detailColumns(sql, now)} from error_groups g
     where g.env = ${env}
       and g.id = (select coalesce(x.merged_into, x.id) from error_groups x where x.env = ${env} and x.id = ${id})`;
  return row && detailOf(row);
}
