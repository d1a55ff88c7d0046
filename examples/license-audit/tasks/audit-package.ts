import { AbortTaskRunError, logger, task } from '@millrace/sdk';
import { readPackage } from '../audit/package.ts';
import { declaredLicences, LicenceProblem } from '../audit/licence.ts';

export interface PackageAudit {
  readonly name: string;
  readonly version: string;
  readonly licences: readonly string[];
  /** Files with the text of a licence. */
  readonly texts: readonly string[];
}

/** Audits one installed package. An invalid licence fails the run immediately, because a retry would find the same one. */
export const auditPackage = task({
  id: 'audit-package',
  run: async ({ folder }: { folder: string }): Promise<PackageAudit> => {
    const { name, version, manifest, licenceTexts: texts } = await readPackage(folder);
    const licences = orAbort(() => declaredLicences(manifest));
    if (texts.length === 0) {
      throw new AbortTaskRunError('The package names a licence but ships no text of it');
    }
    logger.info('Audited', { name, version, licences });
    return { name, version, licences, texts };
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
