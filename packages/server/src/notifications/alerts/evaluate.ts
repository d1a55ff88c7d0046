import type { Queryable } from '../../db/connect.ts';
import type { AlertRow } from './alert.ts';
import { failingTasks } from './conditions/failing-tasks.ts';
import { oldQueues } from './conditions/old-queues.ts';
import { unservedVersions } from './conditions/unserved-versions.ts';
import { notifyEvents } from './notify-events.ts';
import { notifySubjects, type Subject } from './notify-subjects.ts';

/** Checks the condition of an alert that the caller has locked and stores the messages about it. */
export async function evaluate(tx: Queryable, alert: AlertRow, now: Date): Promise<void> {
  const subjects = await subjectsOf(tx, alert, now);
  if (subjects) await notifySubjects(tx, alert, subjects, now);
  else await notifyEvents(tx, alert, now);
}

/** The subjects for which the condition currently holds; undefined for an alert that counts events. */
async function subjectsOf(tx: Queryable, alert: AlertRow, now: Date): Promise<Subject[] | undefined> {
  switch (alert.kind) {
    case 'task.failureRate':
      return failingTasks(tx, alert, now);
    case 'queue.age':
      return oldQueues(tx, alert);
    case 'runner.none':
      return unservedVersions(tx, alert, now);
    default:
      return undefined;
  }
}
