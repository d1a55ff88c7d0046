import { readableDuration } from '@millrace/contract/plain';
import type { ProcessCheck } from '../process-input.ts';

export const notificationsMissing: ProcessCheck = {
  name: 'notifications-missing',
  condition: 'notifications of the database arrive at the server',
  severity: 'error',
  why: 'The server does not learn of changes by other servers: cancellations, resumed waits and records of streams arrive late. `/readyz` returns 503.',
  fix: 'The server has reopened its connection. If that does not help, `DATABASE_URL` or `DATABASE_DIRECT_URL` points to a pooler in transaction mode: see `millrace help poolers`, and restart the server.',
  async find({ delivery: { missingMs, reopened }, limits }) {
    if (missingMs <= limits.missingMs) return [];
    return [
      {
        what: `No notification has arrived for ${readableDuration(missingMs)}. The connection was reopened ${reopened} times.`,
      },
    ];
  },
};
