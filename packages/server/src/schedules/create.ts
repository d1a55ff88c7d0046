import { randomBytes } from 'node:crypto';
import type { Body, Operations, ScheduleType } from '@millrace/contract';
import type { RecordHere } from '../audit/record.ts';
import type { Queryable, Transaction } from '../db/connect.ts';
import { newTimedId } from '../db/ids.ts';
import type { Engine } from '../runs/engine/engine.ts';
import { switchTo } from './activate.ts';
import { propertiesOf, type ScheduleRow } from './row.ts';
import { ensureQueue, readSettings, type SettingColumns } from './settings.ts';
import { requireScheduledTask } from './tasks.ts';
import { replaceSettings } from './update.ts';

/**
 * Creates a schedule, or replaces the settings of the one with the same key. That schedule keeps its task, and its active state unless the body
 * sets it.
 */
export async function createSchedule(
  engine: Engine,
  env: number,
  body: Body<Operations['createSchedule']>,
  record?: RecordHere,
): Promise<ScheduleRow> {
  await requireScheduledTask(engine, env, body.task);
  const key = body.deduplicationKey || randomBytes(12).toString('hex');
  return engine.sql.begin(async (tx) => {
    const now = engine.clock.now();
    for (;;) {
      const known = await findByKey(tx, env, key);
      if (known) {
        const replaced = await replaceSettings(tx, known, body, now, record);
        return switchTo(tx, replaced, body.active ?? replaced.active, now, record);
      }
      const id = newTimedId('sched', now);
      const created = await insertSchedule(tx, {
        env,
        id,
        type: 'IMPERATIVE',
        task: body.task,
        key: { text: key, isExplicit: body.deduplicationKey !== '' },
        settings: readSettings(id, body, now),
        active: body.active ?? true,
        now: new Date(now),
      });
      if (created) {
        const properties = { ...propertiesOf(created), ...(!created.active && { active: false }) };
        await record?.(tx, { act: 'schedule.created', target: id, new: properties });
        return created;
      }
      // Created by another request between the two reads.
    }
  });
}

async function findByKey(tx: Transaction, env: number, key: string): Promise<ScheduleRow | undefined> {
  const [row] = await tx<ScheduleRow[]>`
    select * from schedules where env = ${env} and deduplication_key = ${key} for update`;
  return row;
}

export interface NewSchedule {
  readonly env: number;
  readonly id: string;
  readonly type: ScheduleType;
  readonly task: string;
  readonly key?: { readonly text: string; readonly isExplicit: boolean };
  readonly settings: SettingColumns;
  /** Whether the schedule is active. Default true. */
  readonly active?: boolean;
  readonly now: Date;
}

/** Undefined if its key or, for a declared schedule, its task already has a schedule. */
export async function insertSchedule(
  sql: Queryable,
  schedule: NewSchedule,
): Promise<ScheduleRow | undefined> {
  const { env, id, type, task, key, settings, active = true, now } = schedule;
  await ensureQueue(sql, env, settings.overlap);
  const [row] = await sql<ScheduleRow[]>`
    insert into schedules (env, id, type, task, cron, description, timezone, spread, deduplication_key, has_own_key, external_id,
                           missed, overlap, since, active, next_nominal, next_at, created_at)
    values (${env}, ${id}, ${type}, ${task}, ${settings.cron}, ${settings.description}, ${settings.timezone},
            ${settings.spread}, ${key?.text ?? null}, ${key?.isExplicit ?? false}, ${settings.externalId}, ${settings.missed},
            ${settings.overlap}, ${settings.since}, ${active}, ${active ? settings.nextNominal : null}::timestamptz,
            ${active ? settings.nextAt : null}::timestamptz, ${now})
    on conflict do nothing
    returning *`;
  return row;
}
