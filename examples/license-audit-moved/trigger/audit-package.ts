import { AbortTaskRunError, logger, metadata, queue, tags, task } from '@trigger.dev/sdk';
import { declaredLicences, LicenceProblem } from '../../license-audit/audit/licence.ts';
import { installedPackages, readPackage } from '../../license-audit/audit/package.ts';
import { addToReport } from '../../license-audit/audit/report.ts';

export interface AuditRequest {
  /** The package, relative to this project. */
  readonly folder: string;
  /** The report, relative to this project. */
  readonly report: string;
}

const audits = queue({ name: 'audits', concurrencyLimit: 2 });

/** Audits one installed package. A wrong licence stays wrong, so that fails at once; a busy report is tried again. */
export const auditPackage = task({
  id: 'audit-package',
  queue: audits,
  retry: { maxAttempts: 12, minTimeoutInMs: 50, factor: 1.6, maxTimeoutInMs: 2_000, randomize: true },
  run: async ({ folder, report }: AuditRequest, { ctx }) => {
    const found = await readPackage(folder);
    const licences = orAbort(() => declaredLicences(found.manifest));
    if (found.licenceTexts.length === 0) {
      throw new AbortTaskRunError('The package names a licence but ships no text of it');
    }
    const { name, version } = found;
    await addToReport(report, JSON.stringify({ name, version, licences, texts: found.licenceTexts }));
    metadata.root.increment('audited', 1);
    logger.info('Audited', { name, version, licences, attempt: ctx.attempt.number });
    return { name, version, licences };
  },
});

export interface AuditSummary {
  readonly packages: number;
  readonly passed: number;
  readonly licences: Readonly<Record<string, number>>;
  /** Messages, and how many packages failed with each. */
  readonly failures: Readonly<Record<string, number>>;
}

/** Audits all installed packages: a run for each, in batches. */
export const auditAll = task({
  id: 'audit-all',
  run: async ({ modules, report }: { modules: string; report: string }): Promise<AuditSummary> => {
    await tags.add('audit');
    const folders = await installedPackages(modules);
    const licences: Record<string, number> = {};
    const failures: Record<string, number> = {};
    let passed = 0;
    for (let from = 0; from < folders.length; from += 200) {
      const items = folders.slice(from, from + 200).map((folder) => ({ payload: { folder, report } }));
      const { runs } = await auditPackage.batchTriggerAndWait(items);
      for (const run of runs) {
        if (!run.ok) {
          const { message } = run.error as Error;
          failures[message] = (failures[message] ?? 0) + 1;
          continue;
        }
        passed += 1;
        for (const licence of run.output.licences) licences[licence] = (licences[licence] ?? 0) + 1;
      }
    }
    return { packages: folders.length, passed, licences, failures };
  },
});

function orAbort<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof LicenceProblem) throw new AbortTaskRunError(error.message);
    throw error;
  }
}
