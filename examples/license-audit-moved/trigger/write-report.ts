import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { queue, task } from '@trigger.dev/sdk';
import type { PackageAudit } from '../../license-audit/tasks/audit-package.ts';

const file = '.millrace/licenses.ndjson';
const reports = queue({ name: 'reports', concurrencyLimit: 1 });

/** Writes the report, a line for each package. Audits share the file, so the limit of the queue admits one writer at a time. */
export const writeReport = task({
  id: 'write-report',
  queue: reports,
  run: async (packages: readonly PackageAudit[]) => {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, packages.map((audited) => `${JSON.stringify(audited)}\n`).join(''));
    return file;
  },
});
