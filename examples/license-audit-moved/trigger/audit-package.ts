import { AbortTaskRunError, logger, task } from '@trigger.dev/sdk';
import { declaredLicenses, LicenseProblem } from '../../license-audit/audit/license.ts';
import { readPackage } from '../../license-audit/audit/package.ts';
import type { PackageAudit } from '../../license-audit/tasks/audit-package.ts';

/** Audits one installed package. An invalid license fails the run immediately, because a retry would find the same one. */
export const auditPackage = task({
  id: 'audit-package',
  run: async ({ folder }: { folder: string }): Promise<PackageAudit> => {
    const { name, version, manifest, licenseTexts: texts } = await readPackage(folder);
    const licenses = orAbort(() => declaredLicenses(manifest));
    if (texts.length === 0) {
      throw new AbortTaskRunError('The package names a license but ships no text of it');
    }
    logger.info('Audited', { name, version, licenses });
    return { name, version, licenses, texts };
  },
});

function orAbort<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof LicenseProblem) throw new AbortTaskRunError(error.message);
    throw error;
  }
}
