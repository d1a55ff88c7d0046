import type { Body, ErrorRulePreview, Operations } from '@millrace/contract';
import type { Queryable } from '../../db/connect.ts';
import { errorGroupId } from '../record/group-id.ts';
import { matcherOf } from './rule.ts';

interface FailedRun {
  readonly task: string;
  readonly thrown: string;
  readonly type: string;
  readonly message: string;
  readonly group: string;
  readonly group_type: string;
  readonly group_message: string;
}

/** Maximum spans of 1.3 seconds with failed runs that are read. */
const maxSpans = 200;

/** Returns which of the latest failed runs a rule would have regrouped, and into which groups, without changing anything. */
export async function previewRule(
  sql: Queryable,
  envs: readonly number[],
  { limit, period, groupKey, task = null, type = null, message = null }: Body<Operations['previewErrorRule']>,
  now: Date,
): Promise<ErrorRulePreview> {
  const match = matcherOf([{ task, type, message, groupKey }]);
  const from = new Map<string, ErrorRulePreview['from'][number]>();
  const into = new Map<string, ErrorRulePreview['into'][number]>();
  let looked = 0;
  let matched = 0;
  for (const env of envs) {
    const since = period === undefined ? null : new Date(now.getTime() - period);
    for (const run of await latestFailures(sql, env, limit, since)) {
      looked += 1;
      const own = from.get(run.group) ?? {
        id: run.group,
        taskIdentifier: run.task,
        errorType: run.group_type,
        errorMessage: run.group_message,
        matched: 0,
        looked: 0,
      };
      own.looked += 1;
      from.set(run.group, own);
      const { task: ofTask, type: ofType, thrown, message: displayed } = run;
      if (match({ task: ofTask, type: ofType, messages: [thrown, displayed] }) === undefined) continue;
      matched += 1;
      own.matched += 1;
      const id = errorGroupId(String(env), run.task, groupKey);
      const target = into.get(id) ?? { id, taskIdentifier: run.task, matched: 0 };
      target.matched += 1;
      into.set(id, target);
    }
  }
  const ranked = <T extends { matched: number }>(groups: Iterable<T>) =>
    [...groups].filter((group) => group.matched > 0).toSorted((a, b) => b.matched - a.matched);
  return { looked, matched, from: ranked(from.values()), into: ranked(into.values()) };
}

const latestFailures = (sql: Queryable, env: number, limit: number, since: Date | null) => sql<FailedRun[]>`
  with spans as (
    select distinct span from run_facets
     where env = ${env}
       and facet = any(array(select facet_of('status', s) from unnest('{FAILED,CRASHED,SYSTEM_FAILURE,TIMED_OUT}'::text[]) as s))
     order by span desc limit ${maxSpans}
  )
  select r.task, left(coalesce(r.error ->> 'message', ''), 2048) as thrown, s.type, s.message, f.group_id as group,
         coalesce(g.type, s.type) as group_type, coalesce(g.message, s.message) as group_message
    from spans
   cross join lateral (
     select x.task, x.error, x.error_fingerprint_id from runs x
      where x.env = ${env} and x.id >= spans.span and x.id < spans.span || '~' and x.error_fingerprint_id is not null
        and (${since}::timestamptz is null or x.finished_at >= ${since}::timestamptz)
      order by x.id desc limit ${limit}) r
    join error_fingerprints f on f.id = r.error_fingerprint_id
    join error_samples s on s.fingerprint_id = f.id
    left join error_groups g on g.env = f.env and g.id = f.group_id
   limit ${limit}`;
