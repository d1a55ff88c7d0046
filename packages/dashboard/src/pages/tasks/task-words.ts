import type { TaskInfo } from '@millrace/contract';
import { visibleControls } from '../../parts/json/visible-controls.ts';

/** The schedule or event that triggers a task; undefined if there is none. */
export function startsText({ schedule, on }: Pick<TaskInfo, 'schedule' | 'on'>): string | undefined {
  const starts = [
    schedule && `cron ${schedule.cron} ${schedule.timezone}`,
    on && `event ${visibleControls(on.name)}`,
  ].filter((text) => text !== undefined);
  return starts.length === 0 ? undefined : starts.join(', ');
}

/** The number of retries of a task, and their delays. */
export function retryText({ retry }: Pick<TaskInfo, 'retry'>): string {
  const attempts = retry?.maxAttempts;
  if (attempts === undefined) return 'project default';
  return attempts === 1 ? 'one attempt' : `at most ${attempts} attempts`;
}
