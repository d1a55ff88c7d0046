import { z } from 'zod';
import type { ErrorGroupDetail, ErrorRule } from '@millrace/contract';
import { compared, type Part, type Remote, type Step } from '../part.ts';

const pattern = z.string().min(1).nullable();
const rule = z.object({ task: pattern, type: pattern, message: pattern, groupKey: z.string().min(1) });
type RuleRecord = z.infer<typeof rule>;

const ruleOf = ({ task, type, message, groupKey }: ErrorRule): RuleRecord => ({
  task,
  type,
  message,
  groupKey,
});

const listRules = async ({ client, project }: Remote): Promise<RuleRecord[]> =>
  (await client.call('listErrorRules', { params: { projectRef: project } })).data.map(ruleOf);

/** Rules that group errors. They belong to the project, and a file has them in the order in which they are tried. */
export const errorRules: Part<RuleRecord> = {
  kind: 'error-rule',
  record: rule,
  on: 'errors',
  async *read(remote) {
    yield* await listRules(remote);
  },
  async plan(records, remote) {
    const { client, project, environment } = remote;
    const own = new Set((await listRules(remote)).map((one) => JSON.stringify(one)));
    return records.map((one): Step => {
      const kind = 'error-rule';
      const name = `${one.groupKey}: ${[one.task, one.type, one.message].filter(Boolean).join(' ')}`;
      const isThere = own.has(JSON.stringify(one));
      if (!isThere && environment !== 'prod' && environment !== 'dev')
        return { kind, name, action: 'left-out', note: 'rules are changed with a key of prod or dev' };
      return compared({ kind, name, is: isThere ? 'same' : 'missing', override: false }, async () => {
        await client.call('createErrorRule', { params: { projectRef: project }, body: one });
        return undefined;
      });
    });
  },
};

const state = z.object({
  task: z.string().min(1).max(128),
  fingerprint: z.string().min(1),
  errorType: z.string(),
  errorMessage: z.string(),
  status: z.enum(['resolved', 'ignored']),
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

/** Error groups that somebody resolved or ignored. The group itself comes with its first occurrence. */
export const errorStates: Part<StateRecord> = {
  kind: 'error',
  record: state,
  on: 'errors',
  async *read({ client }) {
    let after: string | undefined;
    do {
      const { data, pagination } = await client.call('listErrors', {
        query: {
          'filter[status]': 'resolved,ignored',
          sort: 'firstSeen',
          'page[size]': '100',
          ...(after !== undefined && { 'page[after]': after }),
        },
      });
      for (const { id } of data) {
        const found = stateOf(await client.call('retrieveError', { params: { errorId: id } }));
        if (found) yield found;
      }
      after = pagination.next;
    } while (after !== undefined);
  },
  async plan(records, remote, { override }) {
    const byTask = new Map<string, Map<string, string>>();
    for (const { task } of records) if (!byTask.has(task)) byTask.set(task, await groupsOf(remote, task));
    const steps: Step[] = [];
    for (const one of records) {
      const errorId = byTask.get(one.task)?.get(one.fingerprint);
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
      const there = await remote.client.call('retrieveError', { params: { errorId } });
      const is = there.status === one.status ? 'same' : there.status === 'unresolved' ? 'missing' : 'other';
      const step = compared({ kind, name, is, override }, () => mark(remote, errorId, one));
      steps.push({ ...step, ...(step.action !== 'keep' && { note: one.status }) });
    }
    return steps;
  },
};

/** Ids of a task's groups by fingerprint. */
async function groupsOf({ client }: Remote, task: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  let after: string | undefined;
  do {
    const { data, pagination } = await client.call('listErrors', {
      query: {
        'filter[taskIdentifier]': task,
        sort: 'firstSeen',
        'page[size]': '100',
        ...(after !== undefined && { 'page[after]': after }),
      },
    });
    for (const { id, fingerprint } of data) found.set(fingerprint, id);
    after = pagination.next;
  } while (after !== undefined);
  return found;
}

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
