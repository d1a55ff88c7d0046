import { AbortTaskRunError, logger, task } from '@millrace/sdk';
import { readPackage } from '../audit/package.ts';
import { declaredLicences, LicenceProblem } from '../audit/licence.ts';
import { addToReport } from '../audit/report.ts';

export interface AuditRequest {
  /** The package, relative to this project. */
  readonly folder: string;
  /** The report, relative to this project. */
  readonly report: string;
}

/** Audits one installed package. A wrong licence stays wrong, so that fails at once; a busy report is tried again. */
export const auditPackage = task({
  id: 'audit-package',
  queue: { concurrencyLimit: 2 },
  // The report takes one writer at a time and refuses the others (audit/report.ts): those come back a little later.
  retry: { maxAttempts: 12, minTimeoutInMs: 50, factor: 1.6, maxTimeoutInMs: 2_000, randomize: true },
  run: async ({ folder, report }: AuditRequest, { ctx }) => {
    const found = await readPackage(folder);
    const licences = orAbort(() => declaredLicences(found.manifest));
    if (found.licenceTexts.length === 0) {
      throw new AbortTaskRunError('The package names a licence but ships no text of it');
    }
    const { name, version } = found;
    await addToReport(report, JSON.stringify({ name, version, licences, texts: found.licenceTexts }));
    logger.info('Audited', { name, version, licences, attempt: ctx.attempt.number });
    return { name, version, licences };
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
