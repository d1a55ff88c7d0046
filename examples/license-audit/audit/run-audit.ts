import { mkdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { runs, tasks, type Run } from '@millrace/sdk';
import type { auditPackage } from '../tasks/audit-package.ts';
import { installedPackages } from './package.ts';

type AuditRun = Run<{ name: string; version: string; licences: string[] }>;

export interface Audit {
  readonly startedAt: Date;
  readonly tookMs: number;
  /** The file with a line for each package that passed. */
  readonly report: string;
  readonly runs: readonly AuditRun[];
}

/** Triggers a run for each installed package and waits for all of them. */
export async function runAudit(
  project: string,
  modules: string,
  onProgress: (done: number, of: number) => void,
): Promise<Audit> {
  const startedAt = new Date();
  const started = performance.now();
  const folders = await installedPackages(modules);
  const report = join('.millrace', 'audits', `${startedAt.toISOString().replaceAll(':', '.')}.ndjson`);
  await mkdir(join(project, '.millrace', 'audits'), { recursive: true });

  // Calls of one tick share a request, so all of them are made at once.
  const handles = await Promise.all(
    folders.map((folder) =>
      tasks.trigger<typeof auditPackage>('audit-package', { folder: relative(project, folder), report }),
    ),
  );
  const waiting = handles.entries();
  const done: AuditRun[] = [];
  const follow = async (): Promise<void> => {
    for (const [at, handle] of waiting) {
      done[at] = await runs.poll(handle, { pollIntervalMs: 250 });
      onProgress(Object.keys(done).length, handles.length);
    }
  };
  await Promise.all(Array.from({ length: 8 }, follow));
  return { startedAt, tookMs: performance.now() - started, report, runs: done };
}
