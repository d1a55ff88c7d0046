import { z } from 'zod';
import type { Schedule } from '@millrace/contract';
import { compared, isSameJson, type Part, type Remote, type Step } from '../part.ts';

const record = z.object({
  /** The deduplication key, or one derived from the id. */
  key: z.string().min(1).max(512),
  task: z.string().min(1).max(128),
  cron: z.string().min(1),
  timezone: z.string().min(1),
  externalId: z.string().optional(),
  window: z.string().optional(),
  missed: z.string(),
  overlap: z.enum(['allow', 'skip', 'queue', 'cancel']),
  active: z.boolean(),
});
type ScheduleRecord = z.infer<typeof record>;

const recordOf = (schedule: Schedule): ScheduleRecord => ({
  // The same in each export. An import replaces an existing schedule with this key.
  key: schedule.deduplicationKey ?? `imported-${schedule.id}`,
  task: schedule.task,
  cron: schedule.generator.expression,
  timezone: schedule.timezone,
  ...(schedule.externalId !== undefined && { externalId: schedule.externalId }),
  ...(schedule.window !== undefined && { window: schedule.window }),
  missed: schedule.missed,
  overlap: schedule.overlap,
  active: schedule.active,
});

async function* imperative({ client }: Remote): AsyncGenerator<ScheduleRecord> {
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const { data, pagination } = await client.call('listSchedules', {
      query: { page: String(page), perPage: '100' },
    });
    pages = pagination.totalPages;
    for (const schedule of data) if (schedule.type === 'IMPERATIVE') yield recordOf(schedule);
  }
}

/** Schedules created through the API. Those declared by tasks are part of a deployment. */
export const schedules: Part<ScheduleRecord> = {
  kind: 'schedule',
  record,
  on: 'schedules',
  read: imperative,
  async plan(records, remote, { override, inactive }) {
    const own = new Map<string, ScheduleRecord>();
    for await (const entry of imperative(remote)) own.set(entry.key, entry);
    const { data: tasks } = await remote.client.call('listTasks');
    const known = new Set(tasks.map(({ id }) => id));
    return records.map((entry): Step => {
      const { key: name, task, cron, active, ...others } = entry;
      const there = own.get(name);
      if (!known.has(task))
        return {
          kind: 'schedule',
          name,
          action: 'waits',
          note: `the task ${task} is not deployed here: deploy it, then import again`,
        };
      // An existing schedule keeps its active state.
      const is = !there ? 'missing' : isSameJson({ ...there, active }, entry) ? 'same' : 'other';
      const step = compared({ kind: 'schedule', name, is, override }, async () => {
        const body = {
          task,
          cron,
          ...others,
          deduplicationKey: name,
          ...(!there && { active: active && !inactive }),
        };
        await remote.client.call('createSchedule', { body });
        return undefined;
      });
      const isFiring = step.action === 'create' && active && !inactive;
      return isFiring ? { ...step, note: `${task}: ${cron} ${entry.timezone}` } : step;
    });
  },
};
