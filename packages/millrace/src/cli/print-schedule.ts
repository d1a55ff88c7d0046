import { readableDuration } from '@millrace/contract/plain';
import type { Schedule } from '@millrace/sdk';
import { printJson, screenOn, table } from './screen.ts';

/** Prints a schedule for a person, or as one line of JSON. */
export function printSchedule(schedule: Schedule, json: boolean | undefined): void {
  if (json) return printJson(schedule);
  const { line, paint } = screenOn(process.stdout);
  line(paint.bold(`${schedule.task}: ${schedule.generator.description}`));
  const properties = [
    ['id', schedule.id],
    ['cron', schedule.generator.expression],
    ['zone', schedule.timezone],
    ['declared', schedule.type === 'DECLARATIVE' ? 'in code' : 'through the API'],
    ['active', schedule.active ? 'yes' : 'no'],
    ['missed', schedule.missed],
    ['overlap', schedule.overlap],
    ...(schedule.window === undefined ? [] : [['window', schedule.window]]),
    ...(schedule.deduplicationKey === undefined ? [] : [['key', schedule.deduplicationKey]]),
    ...(schedule.externalId === undefined ? [] : [['external id', schedule.externalId]]),
    ['next run', schedule.nextRunEffectiveAt?.toISOString() ?? 'none'],
    ...(schedule.lag
      ? [
          [
            'lag',
            `last ${readableDuration(schedule.lag.lastMs)}, most ${readableDuration(schedule.lag.maxMs)} of ${schedule.lag.runs}`,
          ],
        ]
      : []),
  ];
  for (const row of table(properties)) line(row);
}
