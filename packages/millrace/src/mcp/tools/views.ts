import type { ListedRun, Run, WatchedRun } from '@millrace/sdk';
import { z } from 'zod';

const maxFrames = 30;

export const runInput = z.string().min(1).max(128).describe('Run ID (run_…).');
export const limitOf = (max: number, usual: number) =>
  z.number().int().min(1).max(max).default(usual).describe(`Maximum number of results, 1 to ${max}.`);
export const afterInput = z.string().max(1_024).optional().describe('Cursor: `next` of the previous page.');
export const nextOutput = z
  .string()
  .optional()
  .describe('Cursor for the next page: call again with it as `after`.');

/** A compact run. */
export const runView = z.looseObject({
  id: z.string(),
  status: z.string(),
  task: z.string(),
  createdAt: z.string().describe('Time, UTC'),
});

/** The common members of a listed and a single run. */
export const shortRun = (run: ListedRun | Run | WatchedRun) => ({
  id: run.id,
  status: run.status,
  task: run.taskIdentifier,
  ...(run.version !== undefined && { version: run.version }),
  createdAt: run.createdAt,
  ...(run.startedAt && { startedAt: run.startedAt }),
  ...(run.finishedAt && { finishedAt: run.finishedAt }),
  ...(run.delayedUntil && { delayedUntil: run.delayedUntil }),
  durationMs: run.durationMs,
  ...(run.tags.length > 0 && { tags: run.tags }),
  ...(run.isTest && { isTest: true }),
});

interface ErrorResponse {
  readonly name?: string | undefined;
  readonly message: string;
  readonly stackTrace?: string | undefined;
}

/** An error with the frames of its stack as a list. */
export const shortError = ({ name, message, stackTrace = '' }: ErrorResponse) => ({
  ...(name !== undefined && { name }),
  message,
  frames: framesOf(stackTrace),
});

/** The lines of a stack that are frames: `at charge (tasks/charge.ts:12:9)`. */
function framesOf(stack: string): string[] {
  return stack
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('at '))
    .slice(0, maxFrames);
}
