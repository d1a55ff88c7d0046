import { environmentKind, overlapRules, type OverlapRule } from '@millrace/contract';
import { missedRule } from '@millrace/contract';
import type { TaskManifest } from '@millrace/contract/runner';
import type { Transaction } from '../db/connect.ts';
import { newTimedId } from '../db/ids.ts';
import { Problem, unprocessable } from '../problem.ts';
import { insertSchedule } from './create.ts';
import { readSettings, type Settings } from './settings.ts';
import type { ScheduleRow } from './row.ts';
import { replaceSettings } from './update.ts';

/**
 * Makes the declared schedules of an environment those that a version's tasks declare: adds, changes and removes them in the
 * transaction that makes the version current. A schedule that was deactivated by hand stays so.
 */
export async function syncDeclared(
  tx: Transaction,
  env: number,
  tasks: readonly TaskManifest[],
  now: number,
): Promise<void> {
  const declared = await declaredIn(tx, env, tasks);
  const rows = await tx<ScheduleRow[]>`
    select * from schedules where env = ${env} and type = 'DECLARATIVE' order by id for update`;
  const known = new Map(rows.map((row) => [row.task, row]));
  for (const { task, settings } of declared) {
    const row = known.get(task.id);
    known.delete(task.id);
    try {
      if (row) await replaceSettings(tx, row, settings, now);
      else await addDeclared(tx, env, task.id, settings, now);
    } catch (error) {
      if (error instanceof Problem) throw unprocessable(`${whose(task)}: ${error.message}`);
      throw error;
    }
  }
  const gone = [...known.values()].map((row) => row.id);
  if (gone.length > 0) await tx`delete from schedules where env = ${env} and id = any(${gone}::text[])`;
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

async function declaredIn(tx: Transaction, env: number, tasks: readonly TaskManifest[]): Promise<Declared[]> {
  if (!tasks.some((task) => task.schedule)) return [];
  const [environment] = await tx<{ kind: string }[]>`select kind from environments where id = ${env}`;
  return tasks.flatMap((task) => {
    const { schedule } = task;
    if (!schedule) return [];
    const kinds = schedule.environments?.map((name) => kindOf(task, name));
    if (kinds && !kinds.includes(environment?.kind ?? '')) return [];
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

const whose = ({ id, filePath }: TaskManifest): string => `Task "${id}" in ${filePath}`;

function kindOf(task: TaskManifest, name: string): string {
  const kind = environmentKind(name.toLowerCase());
  if (kind) return kind;
  throw unprocessable(
    `${whose(task)}: environment "${name}" is not known; write DEVELOPMENT, STAGING, PRODUCTION or PREVIEW.`,
  );
}

function missedOf(task: TaskManifest, missed: string | undefined): string | undefined {
  const read = missedRule.optional().safeParse(missed);
  if (read.success) return read.data;
  throw unprocessable(`${whose(task)}: missed: ${read.error.issues[0]?.message}.`);
}

function overlapOf(task: TaskManifest, overlap: string | undefined): OverlapRule | undefined {
  if (overlap === undefined) return undefined;
  const rule = overlapRules.find((known) => known === overlap);
  if (rule) return rule;
  throw unprocessable(`${whose(task)}: overlap "${overlap}" is not known; write ${overlapRules.join(', ')}.`);
}
