import type { Schedule } from '@millrace/contract';
import { useMemo } from 'react';
import { useAsk } from '../../api/ask.ts';

/** Whether a schedule has a task. Each tick of an active schedule without one is skipped. */
export type HasTask = (schedule: Pick<Schedule, 'active' | 'task'>) => boolean;

/** Whether the current version has the tasks of schedules. True until that is known, and for inactive schedules. */
export function useHasTask(): HasTask {
  const tasks = useAsk('listTasks', {}, { live: 60_000 });
  return useMemo(() => {
    const known = tasks.data && new Set(tasks.data.data.map(({ id }) => id));
    return ({ active, task }) => !active || known === undefined || known.has(task);
  }, [tasks.data]);
}
