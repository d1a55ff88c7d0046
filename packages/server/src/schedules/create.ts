import { randomBytes } from 'node:crypto';
import type { Body, Operations, ScheduleType } from '@millrace/contract';
import type { RecordHere } from '../audit/record.ts';
import type { Queryable, Transaction } from '../db/connect.ts';
import { newTimedId } from '../db/ids.ts';
import type { Engine } from '../runs/engine.ts';
import { factsOf, type ScheduleRow } from './row.ts';
import { ensureQueue, readSettings, type SettingColumns } from './settings.ts';
import { requireScheduledTask } from './tasks.ts';
import { replaceSettings } from './update.ts';

/** Creates a schedule, or replaces the settings of the one with the same key: its task and whether it is active stay. */
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
      if (known) return replaceSettings(tx, known, body, now, record);
      const id = newTimedId('sched', now);
      const made = await insertSchedule(tx, {
        env,
        id,
        type: 'IMPERATIVE',
        task: body.task,
        key: { text: key, given: body.deduplicationKey !== '' },
        active: body.active ?? true,
        settings: readSettings(id, body, now),
        now: new Date(now),
      });
      if (made) {
        const facts = { ...factsOf(made), ...(!made.active && { active: false }) };
        await record?.(tx, { act: 'schedule.created', target: id, new: facts });
        return made;
      }
      // Created by somebody else between our two looks.
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
  readonly key?: { readonly text: string; readonly given: boolean };
  /** Default true. */
  readonly active?: boolean;
  readonly settings: SettingColumns;
  readonly now: Date;
}

/** Undefined if its key or, declared, its task has a schedule already. */
export async function insertSchedule(
  sql: Queryable,
  schedule: NewSchedule,
): Promise<ScheduleRow | undefined> {
  const { env, id, type, task, key, active = true, settings, now } = schedule;
  await ensureQueue(sql, env, settings.overlap);
  const [row] = await sql<ScheduleRow[]>`
    insert into schedules (env, id, type, task, cron, description, timezone, spread, deduplication_key, key_given, external_id,
                           missed, overlap, active, since, next_nominal, next_at, created_at)
    values (${env}, ${id}, ${type}, ${task}, ${settings.cron}, ${settings.description}, ${settings.timezone},
            ${settings.spread}, ${key?.text ?? null}, ${key?.given ?? false}, ${settings.externalId}, ${settings.missed},
            ${settings.overlap}, ${active}, ${settings.since}, ${active ? settings.nextNominal : null},
            ${active ? settings.nextAt : null}, ${now})
    on conflict do nothing
    returning *`;
  return row;
}
