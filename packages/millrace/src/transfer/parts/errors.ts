import { z } from 'zod';
import type { ErrorGroupDetail } from '@millrace/contract';
import { compared, type Part, type Remote, type Step } from '../part.ts';
import { errorGroups, groupIdsOf } from './error-groups.ts';

const state = z.object({
  task: z.string().min(1).max(128),
  fingerprint: z.string().min(1),
  errorType: z.string(),
  errorMessage: z.string(),
  status: z.enum(['resolved', 'ignored']),
  resolvedAt: z.iso.datetime().optional(),
  resolvedInVersion: z.string().optional(),
  ignoredUntil: z.iso.datetime().optional(),
  ignoredReason: z.string().optional(),
  ignoredUntilOccurrenceRate: z.number().positive().optional(),
  ignoredUntilTotalOccurrences: z.int().positive().optional(),
});
type StateRecord = z.infer<typeof state>;

function stateOf(group: ErrorGroupDetail): StateRecord | undefined {
  const { status } = group;
  if (status === 'unresolved') return undefined;
  const optional = {
    resolvedAt: group.resolvedAt,
    resolvedInVersion: group.resolvedInVersion,
    ignoredUntil: group.ignoredUntil,
    ignoredReason: group.ignoredReason,
    ignoredUntilOccurrenceRate: group.ignoredUntilOccurrenceRate,
    ignoredUntilTotalOccurrences: group.ignoredUntilTotalOccurrences,
  };
  return {
    task: group.taskIdentifier,
    fingerprint: group.fingerprint,
    errorType: group.errorType,
    errorMessage: group.errorMessage,
    status,
    ...(Object.fromEntries(
      Object.entries(optional).filter(([, value]) => value !== null),
    ) as Partial<StateRecord>),
  };
}

/** Resolved or ignored error groups. The group itself is created with its first occurrence. */
export const errorStates: Part<StateRecord> = {
  kind: 'error',
  record: state,
  on: 'errors',
  async *read({ client }) {
    for await (const { id } of errorGroups(client, { 'filter[status]': 'resolved,ignored' })) {
      const found = stateOf(await client.call('retrieveError', { params: { errorId: id } }));
      if (found) yield found;
    }
  },
  async plan(records, remote, { override }) {
    const { client } = remote;
    const idOf = await groupIdsOf(
      client,
      records.map(({ task }) => task),
    );
    const steps: Step[] = [];
    for (const one of records) {
      const errorId = idOf(one.task, one.fingerprint);
      const kind = 'error';
      const name = `${one.task}: ${one.errorType}: ${one.errorMessage}`;
      if (errorId === undefined) {
        steps.push({ kind, name, action: 'left-out', note: 'has not occurred here yet' });
        continue;
      }
      if (one.ignoredUntil !== undefined && Date.parse(one.ignoredUntil) <= Date.now()) {
        steps.push({ kind, name, action: 'left-out', note: 'its time to be ignored is over' });
        continue;
      }
      const there = await client.call('retrieveError', { params: { errorId } });
      if (!override && hasComeBack(there, one)) {
        const note = 'has occurred here after it was resolved: --override resolves it all the same';
        steps.push({ kind, name, action: 'keep', note });
        continue;
      }
      const is = there.status === 'unresolved' ? 'missing' : isSameState(there, one) ? 'same' : 'other';
      const step = compared({ kind, name, is, override }, () => mark(remote, errorId, one));
      steps.push({ ...step, ...(step.action !== 'keep' && { note: one.status }) });
    }
    return steps;
  },
};

/** Whether the group occurred after it was resolved. With a version, occurrences of earlier versions do not count. */
const hasComeBack = ({ status, lastSeen }: ErrorGroupDetail, one: StateRecord): boolean =>
  status === 'unresolved' &&
  one.resolvedAt !== undefined &&
  one.resolvedInVersion === undefined &&
  Date.parse(lastSeen) > Date.parse(one.resolvedAt);

/** An ignore is sent as its remaining time, by another clock. */
const clocksMs = 60_000;

function isSameState(group: ErrorGroupDetail, one: StateRecord): boolean {
  const there = stateOf(group);
  return (
    there?.status === one.status &&
    there.resolvedInVersion === one.resolvedInVersion &&
    there.ignoredReason === one.ignoredReason &&
    there.ignoredUntilOccurrenceRate === one.ignoredUntilOccurrenceRate &&
    there.ignoredUntilTotalOccurrences === one.ignoredUntilTotalOccurrences &&
    isSameMoment(there.ignoredUntil, one.ignoredUntil)
  );
}

const isSameMoment = (there: string | undefined, one: string | undefined): boolean =>
  there === undefined || one === undefined
    ? there === one
    : Math.abs(Date.parse(there) - Date.parse(one)) <= clocksMs;

async function mark({ client }: Remote, errorId: string, one: StateRecord): Promise<undefined> {
  const params = { errorId };
  if (one.status === 'resolved') {
    const { resolvedInVersion } = one;
    await client.call('resolveError', {
      params,
      body: resolvedInVersion === undefined ? {} : { resolvedInVersion },
    });
    return undefined;
  }
  const {
    ignoredUntil,
    ignoredReason,
    ignoredUntilOccurrenceRate: rate,
    ignoredUntilTotalOccurrences: total,
  } = one;
  const body = {
    ...(ignoredUntil !== undefined && { duration: Math.max(1, Date.parse(ignoredUntil) - Date.now()) }),
    ...(ignoredReason !== undefined && { reason: ignoredReason }),
    ...(rate !== undefined && { occurrenceRate: rate }),
    ...(total !== undefined && { totalOccurrences: total }),
  };
  await client.call('ignoreError', { params, body });
  return undefined;
}
