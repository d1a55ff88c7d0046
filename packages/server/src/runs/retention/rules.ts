import type { FinalStatus } from '@millrace/contract';
import type { Queryable } from '../../db/connect.ts';
import { groupBy } from '../values/group-by.ts';

/** Final statuses with a common retention. */
const classes = ['completed', 'failed', 'canceled'] as const;
type StatusClass = (typeof classes)[number];

const classOf: Readonly<Record<FinalStatus, StatusClass>> = {
  COMPLETED: 'completed',
  FAILED: 'failed',
  CRASHED: 'failed',
  SYSTEM_FAILURE: 'failed',
  TIMED_OUT: 'failed',
  CANCELED: 'canceled',
  EXPIRED: 'canceled',
};

type ByClass<T> = Readonly<Record<StatusClass, T>>;

/** The retention of the runs of an environment, in milliseconds. */
export interface RetentionRules {
  /** Returns the retention of a run. If it has not ended, this is the shortest that it may get. */
  of(task: string, status: FinalStatus | null): number;
  /** Whether a run of the task can have this retention. */
  has(task: string, ms: number): boolean;
  /** Every retention with the tasks and classes that have it, shortest first. */
  readonly distinct: readonly { readonly ms: number; readonly members: readonly string[] }[];
}

interface EnvironmentRow extends ByClass<number | null> {
  readonly id: number;
  readonly all: number | null;
}

interface TaskRow extends ByClass<number | null> {
  readonly env: number;
  readonly task: string;
}

const dayMs = 86_400_000;

/** The rules of all environments. A task's setting precedes that of its environment for the class, and that precedes the one for all classes. */
export async function readRules(
  sql: Queryable,
  defaultMs: number,
): Promise<{ readonly env: number; readonly rules: RetentionRules }[]> {
  const environments = await sql<EnvironmentRow[]>`
    select id, run_retention_days as "all", completed_retention_days as completed, failed_retention_days as failed,
           canceled_retention_days as canceled
      from environments order by id`;
  const tasks = await sql<
    TaskRow[]
  >`select env, task, completed, failed, canceled from task_retention order by env, task`;
  const byEnv = groupBy(tasks, ({ env }) => env);
  return environments.map((environment) => {
    const all = environment.all === null ? defaultMs : environment.all * dayMs;
    const own = mapped((name) => (environment[name] === null ? all : environment[name] * dayMs));
    const declared = new Map(
      (byEnv.get(environment.id) ?? []).map((row) => [
        row.task,
        mapped((name) => (row[name] === null ? own[name] : row[name] * 1_000)),
      ]),
    );
    return { env: environment.id, rules: rulesOf(own, declared) };
  });
}

const mapped = <T>(value: (name: StatusClass) => T): ByClass<T> => ({
  completed: value('completed'),
  failed: value('failed'),
  canceled: value('canceled'),
});

function rulesOf(own: ByClass<number>, declared: ReadonlyMap<string, ByClass<number>>): RetentionRules {
  const found = new Map<number, string[]>();
  for (const [task, byClass] of [['', own] as const, ...declared]) {
    for (const name of classes) {
      const members = found.get(byClass[name]) ?? [];
      members.push(`${name}:${task}`);
      found.set(byClass[name], members);
    }
  }
  const ofTask = (task: string): ByClass<number> => declared.get(task) ?? own;
  return {
    of(task, status) {
      const byClass = ofTask(task);
      return status === null ? Math.min(...Object.values(byClass)) : byClass[classOf[status]];
    },
    has: (task, ms) => Object.values(ofTask(task)).includes(ms),
    distinct: [...found].map(([ms, members]) => ({ ms, members })).toSorted((a, b) => a.ms - b.ms),
  };
}
