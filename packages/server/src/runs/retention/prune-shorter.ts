import type { FinalStatus } from '@millrace/contract';
import type { Sql, Transaction } from '../../db/connect.ts';
import { idAt } from '../list/position.ts';
import { deleteFacets } from '../facets/delete-facets.ts';
import { deleteRuns } from './delete-runs.ts';
import type { RetentionRules } from './rules.ts';

export interface RunToExpire {
  readonly id: string;
  readonly task: string;
  readonly status: FinalStatus | null;
  readonly finishedAt: Date | null;
}

const maxRuns = 1_000;

export const isExpired = (run: RunToExpire, rules: RetentionRules, now: number): boolean =>
  run.finishedAt !== null && run.finishedAt.getTime() + rules.of(run.task, run.status) < now;

/**
 * Deletes runs with a shorter retention than others of their environment, among runs that stay. It reads each run once for each retention,
 * when the run has reached that age, so the cost does not depend on how many runs stay. A run that has not expired by then is read again
 * when it may have. Returns whether more runs are due.
 */
export async function pruneShorter(
  sql: Sql,
  env: number,
  rules: RetentionRules,
  now: number,
): Promise<boolean> {
  const shorter = rules.distinct.slice(0, -1);
  let more = false;
  for (const each of shorter) more = (await sql.begin((tx) => walk(tx, env, each, rules, now))) || more;
  const known = shorter.map(({ ms }) => ms);
  await sql`delete from retention_positions where env = ${env} and retention_ms <> all(${known}::bigint[])`;
  return (await sql.begin((tx) => pruneLate(tx, env, rules, now))) || more;
}

/** Reads the next runs that have reached the age `ms`. */
async function walk(
  tx: Transaction,
  env: number,
  { ms, members }: RetentionRules['distinct'][number],
  rules: RetentionRules,
  now: number,
): Promise<boolean> {
  await tx`
    insert into retention_positions (env, retention_ms, members) values (${env}, ${ms}, ${[...members]}::text[])
    on conflict do nothing`;
  const [position] = await tx<{ cursor: string }[]>`
    select case when members @> ${[...members]}::text[] then cursor else '' end as cursor
      from retention_positions where env = ${env} and retention_ms = ${ms} for update skip locked`;
  if (!position) return false;
  const runs = await tx<RunToExpire[]>`
    select r.id, r.task, r.status, r.finished_at as "finishedAt" from runs r
     where r.env = ${env} and r.id > ${position.cursor} and r.id < ${idAt(now - ms)} order by r.id limit ${maxRuns}`;
  const due = runs.filter(({ task, status }) =>
    status === null ? rules.has(task, ms) : rules.of(task, status) === ms,
  );
  await expire(tx, env, due, rules, now);
  await tx`
    update retention_positions set members = ${[...members]}::text[], cursor = ${runs.at(-1)?.id ?? position.cursor}
     where env = ${env} and retention_ms = ${ms}`;
  return runs.length >= maxRuns;
}

/** Reads the runs again that had not expired when they reached their age. */
async function pruneLate(tx: Transaction, env: number, rules: RetentionRules, now: number): Promise<boolean> {
  const late = await tx<{ run: string }[]>`
    delete from retention_late where ctid = any(array(
      select l.ctid from retention_late l where l.env = ${env} and l.due <= ${new Date(now)}
       order by l.due limit ${maxRuns} for update skip locked))
    returning run_id as run`;
  if (late.length === 0) return false;
  const runs = await tx<RunToExpire[]>`
    select r.id, r.task, r.status, r.finished_at as "finishedAt" from runs r
     where r.env = ${env} and r.id = any(${late.map(({ run }) => run)}::text[]) order by r.id`;
  await expire(tx, env, runs, rules, now);
  return late.length >= maxRuns;
}

/** Deletes the expired runs, and notes the others for the time when they can expire at the earliest. */
async function expire(
  tx: Transaction,
  env: number,
  runs: readonly RunToExpire[],
  rules: RetentionRules,
  now: number,
): Promise<void> {
  const expired = runs.filter((run) => isExpired(run, rules, now)).map(({ id }) => id);
  if (expired.length > 0) {
    await deleteFacets(tx, env, expired, new Date(now));
    await deleteRuns(tx, env, expired);
  }
  const rest = runs.filter((run) => !isExpired(run, rules, now));
  if (rest.length === 0) return;
  // A run that has not ended cannot expire before its whole retention has passed.
  const dueOf = ({ task, status, finishedAt }: RunToExpire): Date =>
    new Date((finishedAt?.getTime() ?? now) + rules.of(task, status) + 1);
  await tx`
    insert into retention_late (env, run_id, due)
    select ${env}, i.run_id, i.due from unnest(${rest.map(({ id }) => id)}::text[], ${rest.map(dueOf)}::timestamptz[]) as i (run_id, due)
     order by 2
    on conflict (env, run_id) do update set due = least(retention_late.due, excluded.due)`;
}
