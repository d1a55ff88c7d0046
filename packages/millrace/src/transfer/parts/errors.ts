import { z } from 'zod';
import type { ErrorGroupDetail } from '@millrace/contract';
import { compared, type Part, type Remote, type Step } from '../part.ts';
import { errorGroups, groupIdsOf } from './error-groups.ts';

const stateRecord = z.object({
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
type StateRecord = z.infer<typeof stateRecord>;

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
  record: stateRecord,
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
    for (const entry of records) {
      const errorId = idOf(entry.task, entry.fingerprint);
      const kind = 'error';
      const name = `${entry.task}: ${entry.errorType}: ${entry.errorMessage}`;
      if (errorId === undefined) {
        steps.push({ kind, name, action: 'left-out', note: 'has not occurred here yet' });
        continue;
      }
      if (entry.ignoredUntil !== undefined && Date.parse(entry.ignoredUntil) <= Date.now()) {
        steps.push({ kind, name, action: 'left-out', note: 'the time to ignore it has passed' });
        continue;
      }
      const there = await client.call('retrieveError', { params: { errorId } });
      if (!override && hasReoccurred(there, entry)) {
        const note = 'has occurred here since it was resolved: --override resolves it anyway';
        steps.push({ kind, name, action: 'keep', note });
        continue;
      }
      const is = there.status === 'unresolved' ? 'missing' : isSameState(there, entry) ? 'same' : 'other';
      const step = compared({ kind, name, is, override }, () => mark(remote, errorId, entry));
      steps.push({ ...step, ...(step.action !== 'keep' && { note: entry.status }) });
    }
    return steps;
  },
};

/** Whether the group occurred after it was resolved. With a version, occurrences of earlier versions do not count. */
const hasReoccurred = ({ status, lastSeen }: ErrorGroupDetail, state: StateRecord): boolean =>
  status === 'unresolved' &&
  state.resolvedAt !== undefined &&
  state.resolvedInVersion === undefined &&
  Date.parse(lastSeen) > Date.parse(state.resolvedAt);

/** An ignore is sent as its remaining time, because the clocks may differ. */
const clocksMs = 60_000;

function isSameState(group: ErrorGroupDetail, state: StateRecord): boolean {
  const there = stateOf(group);
  return (
    there?.status === state.status &&
    there.resolvedInVersion === state.resolvedInVersion &&
    there.ignoredReason === state.ignoredReason &&
    there.ignoredUntilOccurrenceRate === state.ignoredUntilOccurrenceRate &&
    there.ignoredUntilTotalOccurrences === state.ignoredUntilTotalOccurrences &&
    isSameMoment(there.ignoredUntil, state.ignoredUntil)
  );
}

const isSameMoment = (there: string | undefined, imported: string | undefined): boolean =>
  there === undefined || imported === undefined
    ? there === imported
    : Math.abs(Date.parse(there) - Date.parse(imported)) <= clocksMs;

async function mark({ client }: Remote, errorId: string, state: StateRecord): Promise<undefined> {
  const params = { errorId };
  if (state.status === 'resolved') {
    const { resolvedInVersion } = state;
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
  } = state;
  const body = {
    ...(ignoredUntil !== undefined && { duration: Math.max(1, Date.parse(ignoredUntil) - Date.now()) }),
    ...(ignoredReason !== undefined && { reason: ignoredReason }),
    ...(rate !== undefined && { occurrenceRate: rate }),
    ...(total !== undefined && { totalOccurrences: total }),
  };
  await client.call('ignoreError', { params, body });
  return undefined;
}
