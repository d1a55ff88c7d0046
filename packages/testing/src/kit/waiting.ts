import { runs, type RunReference } from '@millrace/sdk';

/** An unfinished run, with the reason. */
export interface WaitingRun {
  readonly id: string;
  readonly task: string;
  readonly status: string;
  /** For programs. */
  readonly reason: string;
  /** Readable description of the run's wait. */
  readonly message: string;
  /** The end of the wait, if it waits for a time. */
  readonly until?: Date | undefined;
}

const open = ['PENDING_VERSION', 'DELAYED', 'QUEUED', 'DEQUEUED', 'EXECUTING', 'WAITING'] as const;

/** Maximum number of runs in a message. */
const maxListed = 20;

/** The unfinished runs, oldest first. */
export async function readWaiting(): Promise<WaitingRun[]> {
  const { data } = await runs.list({ status: [...open], limit: maxListed });
  const read = await Promise.all(
    data.toReversed().map(({ id, taskIdentifier }) => whyOf(id, taskIdentifier)),
  );
  // The engine continues in the meantime, so a pause of a few milliseconds may end, and the run with it.
  return read.filter(({ status }) => open.some((openStatus) => openStatus === status));
}

async function whyOf(id: RunReference & string, task: string): Promise<WaitingRun> {
  const { status, reason, message, until } = await runs.reason(id);
  // The server's advice is about deployments.
  const explanation =
    reason === 'no_version'
      ? `The task ${JSON.stringify(task)} is not in the kit: add it to \`tasks\` of the kit.`
      : message;
  return { id, task, status, reason, message: explanation, ...(until && { until }) };
}

/** One line for each. */
export const waitingText = (waiting: readonly WaitingRun[]): string =>
  waiting.map(({ id, task, status, message }) => `  ${task} (${id}) is ${status}: ${message}`).join('\n');
