import { runs, tasks } from '@millrace/sdk';
import type { audit } from '../tasks/audit.ts';

interface Progress {
  readonly done: number;
  readonly of: number;
}

/** Triggers an audit of a project, follows its run to the end, and returns it. */
export async function runAudit(project: string, onProgress: (progress: Progress) => void) {
  const handle = await tasks.trigger<typeof audit>('audit', { project });
  let printed: unknown;
  for await (const { metadata } of runs.subscribeToRun(handle)) {
    const progress = metadata?.['progress'] as Progress | undefined;
    if (progress && progress.done !== printed) onProgress(progress);
    printed = progress?.done;
  }
  return runs.retrieve(handle);
}
