import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { task } from '@millrace/sdk';
import type { PackageAudit } from './audit-package.ts';

const file = '.millrace/licenses.ndjson';

/** Writes the report, a line for each package. Audits share the file, so the limit of the queue admits one writer at a time. */
export const writeReport = task({
  id: 'write-report',
  queue: { concurrencyLimit: 1 },
  run: async (packages: readonly PackageAudit[]) => {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, packages.map((audited) => `${JSON.stringify(audited)}\n`).join(''));
    return file;
  },
});
