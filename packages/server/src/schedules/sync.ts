import { environmentKind, overlapRules, type EnvironmentKind, type OverlapRule } from '@millrace/contract';
import { missedRule } from '@millrace/contract';
import type { TaskManifest } from '@millrace/contract/runner';
import type { Transaction } from '../db/connect.ts';
import { newTimedId } from '../db/ids.ts';
import { Problem } from '../problem.ts';
import { insertSchedule } from './create.ts';
import { readSettings, type Settings } from './settings.ts';
import type { ScheduleRow } from './row.ts';
import { replaceSettings } from './update.ts';

/**
 * Replaces the declared schedules of an environment with those of a version's tasks, in the transaction that makes the version current. A
 * schedule whose task is no longer declared is set aside: it is hidden and does not fire. When a later version declares it, it returns with
 * the same id, and remains deactivated if a user had deactivated it.
 */
export async function syncDeclared(
  tx: Transaction,
  env: number,
  tasks: readonly TaskManifest[],
  now: number,
): Promise<void> {
  const [environment] = await tx<{ kind: EnvironmentKind; firesDeclared: boolean }[]>`
    select kind, kind <> 'preview' or declared_schedules as "firesDeclared" from environments where id = ${env}`;
  const declared = declaredIn(environment?.kind, tasks, environment?.firesDeclared);
  const rows = await tx<ScheduleRow[]>`
    select * from schedules where env = ${env} and type = 'DECLARATIVE' order by id for update`;
  const known = new Map(rows.map((row) => [row.task, row]));
  for (const { task, settings } of declared) {
    const row = known.get(task.id);
    known.delete(task.id);
    await explained(task, async () => {
      if (row?.set_aside) await bringBack(tx, row, settings, now);
      else if (row) await replaceSettings(tx, row, settings, now);
      else await addDeclared(tx, env, task.id, settings, now);
    });
  }
  const gone = [...known.values()].flatMap((row) => (row.set_aside ? [] : [row.id]));
  if (gone.length > 0)
    await tx`
      update schedules set set_aside = true, next_nominal = null, next_at = null
       where env = ${env} and id = any(${gone}::text[])`;
}

/** Throws a 422 Problem with the fix for a schedule that cannot be declared in such an environment. */
export function checkDeclared(kind: EnvironmentKind, tasks: readonly TaskManifest[], now: number): void {
  for (const { task, settings } of declaredIn(kind, tasks))
    explained(task, () => readSettings('sched_check', settings, now));
}

/** Its ticks begin from now: those that passed while it was set aside do not count as missed. */
async function bringBack(tx: Transaction, row: ScheduleRow, settings: Settings, now: number): Promise<void> {
  await tx`update schedules set set_aside = false where env = ${row.env} and id = ${row.id}`;
  await replaceSettings(tx, { ...row, since: new Date(now) }, settings, now);
}

async function addDeclared(
  tx: Transaction,
  env: number,
  task: string,
  settings: Settings,
  now: number,
): Promise<void> {
  const id = newTimedId('sched', now);
  const columns = readSettings(id, settings, now);
  await insertSchedule(tx, { env, id, type: 'DECLARATIVE', task, settings: columns, now: new Date(now) });
}

interface Declared {
  readonly task: TaskManifest;
  readonly settings: Settings;
}

/** In preview branches, only schedules that name the branch are declared, unless more were requested. */
function declaredIn(
  kind: EnvironmentKind | undefined,
  tasks: readonly TaskManifest[],
  firesDeclared = true,
): Declared[] {
  return tasks.flatMap((task) => {
    const { schedule } = task;
    if (!schedule) return [];
    const kinds = schedule.environments?.map((name) => kindOf(task, name));
    if (kinds ? !kinds.includes(kind ?? '') : !firesDeclared) return [];
    const { cron, timezone, window, missed, overlap } = schedule;
    return [
      {
        task,
        settings: {
          cron,
          timezone,
          window,
          missed: missedOf(task, missed),
          overlap: overlapOf(task, overlap),
        },
      },
    ];
  });
}

/** A Problem with a declared schedule names its task. */
function explained<R>(task: TaskManifest, act: () => R): R {
  const named = (error: unknown): never => {
    throw error instanceof Problem ? wrong(task, error.message) : error;
  };
  try {
    const result = act();
    return result instanceof Promise ? (result.catch(named) as R) : result;
  } catch (error) {
    return named(error);
  }
}

const wrong = ({ id, filePath }: TaskManifest, reason: string): Problem =>
  new Problem('invalid_task', `Task "${id}" in ${filePath}: ${reason}`, { task: id });

function kindOf(task: TaskManifest, name: string): string {
  const kind = environmentKind(name.toLowerCase());
  if (kind) return kind;
  throw wrong(
    task,
    `environment "${name}" is not supported. Use DEVELOPMENT, STAGING, PRODUCTION or PREVIEW.`,
  );
}

function missedOf(task: TaskManifest, missed: string | undefined): string | undefined {
  const read = missedRule.optional().safeParse(missed);
  if (read.success) return read.data;
  throw wrong(task, `missed: ${read.error.issues[0]?.message}.`);
}

function overlapOf(task: TaskManifest, overlap: string | undefined): OverlapRule | undefined {
  if (overlap === undefined) return undefined;
  const rule = overlapRules.find((known) => known === overlap);
  if (rule) return rule;
  throw wrong(task, `overlap "${overlap}" is not supported. Use ${overlapRules.join(', ')}.`);
}
