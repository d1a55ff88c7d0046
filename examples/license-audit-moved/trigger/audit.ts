import { metadata, tags, task } from '@trigger.dev/sdk';
import { countLicenses } from '../../license-audit/audit/license.ts';
import { installedPackages, type InstalledPackage } from '../../license-audit/audit/package.ts';
import type { PackageAudit } from '../../license-audit/tasks/audit-package.ts';
import { auditPackage } from './audit-package.ts';
import { writeReport } from './write-report.ts';

/** A batch may have up to 1,000 runs. Smaller ones update the progress more often. */
const batchSize = 200;

/** Audits the packages that a project has installed: one run for each, then one that writes the report. */
export const audit = task({
  id: 'audit',
  run: async ({ project }: { project: string }) => {
    await tags.add('audit');
    const packages = await installedPackages(project);
    const passed: PackageAudit[] = [];
    const failed: InstalledPackage[] = [];
    const failures: Record<string, number> = {};
    for (let from = 0; from < packages.length; from += batchSize) {
      metadata.set('progress', { done: from, of: packages.length });
      const part = packages.slice(from, from + batchSize);
      const { runs } = await auditPackage.batchTriggerAndWait(
        part.map(({ folder, isProduction }) => ({
          payload: { folder },
          options: { tags: isProduction ? 'production' : 'development' },
        })),
      );
      passed.push(...runs.flatMap((run) => (run.ok ? [run.output] : [])));
      failed.push(...part.filter((_, at) => !runs[at]?.ok));
      for (const run of runs) {
        if (run.ok) continue;
        const { message } = run.error as Error;
        failures[message] = (failures[message] ?? 0) + 1;
      }
    }
    metadata.set('progress', { done: packages.length, of: packages.length });
    return {
      report: await writeReport.triggerAndWait(passed).unwrap(),
      passed: passed.length,
      failed: failed.length,
      failedInProduction: failed.filter(({ isProduction }) => isProduction).map(({ name }) => name),
      licenses: countLicenses(passed),
      failures,
    };
  },
});
