import { errorSorts, errorStatuses } from '@millrace/contract/plain';
import type { ErrorGroup, ErrorGroupDetail } from '@millrace/sdk';
import { z } from 'zod';
import { reads } from '../tool.ts';
import { afterInput, limitOf, nextOutput, shortRun } from './views.ts';

export const errorInput = z.string().min(1).max(128).describe('Error group ID (error_…).');

const errorView = z.looseObject({
  id: z.string(),
  task: z.string(),
  message: z.string(),
  status: z.string(),
  count: z.number(),
});

const shortGroup = (group: ErrorGroup | ErrorGroupDetail) => ({
  id: group.id,
  task: group.taskIdentifier,
  type: group.errorType,
  message: group.errorMessage,
  status: group.status,
  count: group.count,
  firstSeen: group.firstSeen,
  lastSeen: group.lastSeen,
  resolvedAt: group.resolvedAt,
  ignoredUntil: group.ignoredUntil,
  owner: group.ownership.owner,
});

export const listErrors = reads({
  name: 'list_errors',
  title: 'List error groups',
  description:
    'Lists error groups: failed runs with the same cause, their count and times. read_error returns one of them.',
  input: {
    status: z.array(z.enum(errorStatuses)).optional(),
    task: z.array(z.string().max(128)).max(50).optional(),
    search: z.string().max(1_000).optional().describe('Text in the type or the message.'),
    period: z
      .string()
      .optional()
      .describe('Occurred within this period, such as 24h or 7d. Default: all time.'),
    sort: z.enum(errorSorts).default('lastSeen').describe('Latest or most frequent first.'),
    limit: limitOf(50, 20),
    after: afterInput,
  },
  output: { errors: z.array(errorView), next: nextOutput },
  rest: 'read_error returns one error group.',
  async read({ task, ...params }, { client }) {
    const defined = Object.entries({ ...params, taskIdentifier: task }).filter(
      ([, value]) => value !== undefined,
    );
    const page = await client.errors.list(Object.fromEntries(defined));
    return {
      errors: page.data.map(shortGroup),
      ...(page.next !== undefined && { next: page.next }),
    };
  },
});

export const readError = reads({
  name: 'read_error',
  title: 'Read an error group',
  description: 'Returns one error group: its count, versions, status changes and latest runs.',
  input: { error: errorInput },
  output: { error: errorView, runs: z.array(z.unknown()).describe('Its latest runs.') },
  rest: 'explain_run returns the error of one run with its frames.',
  async read({ error: id }, { client: { errors, runs } }) {
    const [group, latest, history] = await Promise.all([
      errors.retrieve(id, { trend: '24h' }),
      runs.list({ error: id, period: '30d', limit: 5 }),
      errors.history(id, { limit: 5 }),
    ]);
    const { affectedVersions, resolvedInVersion, ignoredReason, trend } = group;
    const { note, ticketUrl } = group.ownership;
    return {
      error: {
        ...shortGroup(group),
        affectedVersions,
        resolvedInVersion,
        ignoredReason,
        note,
        ticketUrl,
        trend,
      },
      runs: latest.data.map(shortRun),
      history: history.data,
    };
  },
});
