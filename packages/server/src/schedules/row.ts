import type { OverlapRule, Schedule, ScheduleType } from '@millrace/contract';
import { environmentTypes } from '@millrace/contract';
import type { Environment } from '../auth/principal.ts';
import type { Fragment, Queryable } from '../db/connect.ts';
import { readPattern, type Pattern } from './pattern.ts';

export interface ScheduleRow {
  readonly env: number;
  readonly id: string;
  readonly type: ScheduleType;
  readonly task: string;
  readonly cron: string;
  readonly description: string;
  readonly timezone: string;
  readonly spread: string | null;
  readonly deduplication_key: string | null;
  readonly has_own_key: boolean;
  readonly external_id: string | null;
  readonly active: boolean;
  readonly missed: string;
  readonly overlap: OverlapRule;
  readonly since: Date;
  readonly next_nominal: Date | null;
  readonly next_at: Date | null;
  readonly last_nominal: Date | null;
  readonly last_run_id: string | null;
  /** The current version does not declare it. */
  readonly set_aside: boolean;
}

export const patternOf = ({ id, cron, timezone, spread }: ScheduleRow): Pattern =>
  readPattern(id, { cron, timezone, window: spread });

/** One schedule of an environment, by its id or its deduplication key. `lock` prevents other transactions from firing or changing it. */
export async function findSchedule(
  sql: Queryable,
  env: number,
  idOrKey: string,
  lock = false,
): Promise<ScheduleRow | undefined> {
  const [row] = await sql<ScheduleRow[]>`
    select * from schedules where env = ${env} and not set_aside and ${
      idOrKey.startsWith('sched_') ? sql`id = ${idOrKey}` : sql`deduplication_key = ${idOrKey}`
    } ${lock ? sql`for update` : sql``}`;
  return row;
}

/** The properties of a schedule in the audit log. */
export const propertiesOf = (row: ScheduleRow) => ({
  task: row.task,
  cron: row.cron,
  timezone: row.timezone,
  window: row.spread ?? undefined,
  deduplicationKey: row.has_own_key ? (row.deduplication_key ?? undefined) : undefined,
  externalId: row.external_id ?? undefined,
  missed: row.missed,
  overlap: row.overlap,
});

const lagTicks = 20;

/** How late the latest runs started: the start is in the run, or in its lease while it executes. */
export const lagOf = (sql: Queryable): Fragment => sql`
  (select json_build_object('lastMs', (array_agg(late order by nominal_at desc))[1], 'maxMs', max(late), 'runs', count(*))
     from (select t.nominal_at,
                  greatest(0, round(extract(epoch from coalesce(r.started_at, l.leased_at) - t.due_at) * 1000))::float8 as late
             from (select * from schedule_ticks t where t.env = s.env and t.schedule_id = s.id
                    order by t.nominal_at desc limit ${lagTicks}) t
             join runs r on r.env = t.env and r.id = t.run_id
             left join leases l on l.env = t.env and l.run_id = t.run_id
            where not t.backfilled and coalesce(r.started_at, l.leased_at) is not null) recent
   having count(*) > 0)`;

export interface ScheduleLag {
  readonly lastMs: number;
  readonly maxMs: number;
  readonly runs: number;
}

/** A schedule in its wire format. `showKey` also includes a random key. */
export function scheduleOf(
  row: ScheduleRow & { readonly lag?: ScheduleLag | null },
  environment: Environment,
  showKey = false,
): Schedule {
  return {
    id: row.id,
    type: row.type,
    task: row.task,
    active: row.active,
    deduplicationKey: row.has_own_key || showKey ? (row.deduplication_key ?? undefined) : undefined,
    externalId: row.external_id ?? undefined,
    generator: { type: 'CRON', expression: row.cron, description: row.description },
    timezone: row.timezone,
    window: row.spread ?? undefined,
    missed: row.missed,
    overlap: row.overlap,
    nextRun: row.next_nominal?.toISOString() ?? null,
    nextRunEffectiveAt: row.next_at?.toISOString() ?? null,
    environments: [{ id: environment.publicId, type: environmentTypes[environment.kind] }],
    lag: row.lag ?? undefined,
  };
}
