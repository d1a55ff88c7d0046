import { CronError, findZone, parseCron, parseWindow } from '@millrace/contract/cron';
import type { SourceSchedule } from './read.ts';

/** The action for a schedule. */
export interface ScheduleStep {
  readonly kind: 'schedule';
  /** Its deduplication key in the target environment. */
  readonly name: string;
  /**
   * `create`, `replace`, `same`, `keep`: as for variables. `in-code`: it is declared by its task. `waits-for-task`: this environment has no
   * such task. `not-readable`: its expression or zone is not supported.
   */
  readonly action: 'create' | 'replace' | 'same' | 'keep' | 'in-code' | 'waits-for-task' | 'not-readable';
  readonly schedule: SourceSchedule;
  readonly note?: string;
}

/** A schedule of the target environment. */
export interface ScheduleHere {
  readonly task: string;
  readonly timezone: string;
  readonly generator: { readonly expression: string };
  readonly window?: string | undefined;
  readonly externalId?: string | undefined;
  readonly deduplicationKey?: string | undefined;
}

export interface SchedulesHere {
  readonly schedules: readonly ScheduleHere[];
  /** Ids of the tasks of its current version. */
  readonly tasks: ReadonlySet<string>;
}

export function planSchedules(
  found: readonly SourceSchedule[],
  { schedules, tasks }: SchedulesHere,
  override: boolean,
): ScheduleStep[] {
  const byKey = new Map(schedules.map((schedule) => [schedule.deduplicationKey, schedule]));
  const plan = (schedule: SourceSchedule): ScheduleStep => {
    // A schedule created without a key is identified by its id.
    const name = schedule.deduplicationKey ?? `imported-${schedule.id}`;
    const step = (action: ScheduleStep['action'], note?: string): ScheduleStep => ({
      kind: 'schedule',
      name,
      action,
      schedule,
      ...(note !== undefined && { note }),
    });
    if (schedule.isDeclared) return step('in-code', `declared by the task ${schedule.task}`);
    const own = byKey.get(name);
    if (own && isSame(own, schedule)) return step('same');
    if (own && own.task !== schedule.task)
      return step('keep', `runs the task ${own.task} here: delete it first`);
    if (own && !override) return step('keep', 'differs here: --override replaces it');
    const wrong = whyNot(schedule);
    if (wrong !== undefined) return step('not-readable', wrong);
    if (!tasks.has(schedule.task))
      return step(
        'waits-for-task',
        `the task ${schedule.task} is not deployed here: deploy it, then import again`,
      );
    return own ? step('replace') : step('create');
  };
  return found.map(plan).toSorted((a, other) => (a.name < other.name ? -1 : 1));
}

const isSame = (own: ScheduleHere, { task, cron, timezone, window, externalId }: SourceSchedule): boolean =>
  own.task === task &&
  own.generator.expression === cron.trim() &&
  own.timezone === zoneName(timezone) &&
  own.window === window &&
  own.externalId === externalId;

/** In the server's spelling. */
function zoneName(timezone: string): string {
  try {
    return findZone(timezone).name;
  } catch (error) {
    if (error instanceof CronError) return timezone;
    throw error;
  }
}

/** The unsupported part of a schedule; undefined if everything is supported. */
function whyNot({ cron, timezone, window }: SourceSchedule): string | undefined {
  try {
    parseCron(cron);
    findZone(timezone);
    if (window !== undefined) parseWindow(window);
    return undefined;
  } catch (error) {
    if (error instanceof CronError) return error.message;
    throw error;
  }
}
