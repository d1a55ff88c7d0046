import { runs, type RunReference } from '@millrace/sdk';

/** A run that is not over, and why. */
export interface WaitingRun {
  readonly id: string;
  readonly task: string;
  readonly status: string;
  /** For programs. */
  readonly reason: string;
  /** For people: what it waits for. */
  readonly message: string;
  /** Until when, if it waits for a time. */
  readonly until?: Date | undefined;
}

const open = ['PENDING_VERSION', 'DELAYED', 'QUEUED', 'DEQUEUED', 'EXECUTING', 'WAITING'] as const;

/** Runs that are told about. */
const most = 20;

/** The runs that are not over, the oldest first. */
export async function readWaiting(): Promise<WaitingRun[]> {
  const { data } = await runs.list({ status: [...open], limit: most });
  return Promise.all(
    data.toReversed().map(({ id, taskIdentifier, status }) => whyOf(id, taskIdentifier, status)),
  );
}

async function whyOf(id: RunReference & string, task: string, status: string): Promise<WaitingRun> {
  const { reason, message, until } = await runs.reason(id);
  return { id, task, status, reason, message, ...(until && { until }) };
}

/** One line for each. */
export const waitingText = (waiting: readonly WaitingRun[]): string =>
  waiting
    .map(
      ({ id, task, status, reason, message }) =>
        `  ${task} (${id}) is ${status}: ${message}${reason === 'no_version' ? ' Is it missing in `tasks` of the kit?' : ''}`,
    )
    .join('\n');
