import type { CheckResult, OperationsOf } from '@millrace/contract';
import { ownedInstallation } from '../../auth/installation-owner.ts';
import { isUser } from '../../auth/principal.ts';
import type { Sql } from '../../db/connect.ts';
import type { Delivery } from '../../db/wake.ts';
import { readVersion, sqlFolder } from '../../db/sql-folder.ts';
import type { JobWatch } from '../../jobs/watch.ts';
import type { HandlersOf } from '../../request.ts';
import { processChecks } from './checks.ts';
import { diagnoseDatabase } from './diagnose.ts';
import { defaultLimits } from './limits.ts';
import { runChecks } from './run.ts';

export interface DoctorDependencies {
  readonly sql: Sql;
  readonly jobs: Pick<JobWatch, 'states'>;
  readonly delivery: Delivery;
  /** How long ended runs are retained, unless their environment has its own setting. */
  readonly runRetentionMs: number;
}

export function doctorHandlers({
  sql,
  jobs,
  delivery,
  runRetentionMs,
}: DoctorDependencies): HandlersOf<OperationsOf<'doctor'>> {
  const limits = { ...defaultLimits, runRetentionMs };
  /** Concurrent requests share one diagnosis, so that it cannot be used to overload the database. */
  let running: Promise<CheckResult[]> | undefined;
  const diagnoseOnce = (): Promise<CheckResult[]> => {
    running ??= Promise.all([
      diagnoseDatabase(sql, { limits }),
      runChecks(processChecks, { jobs, delivery, limits }),
    ])
      .then((results) => results.flat())
      .finally(() => (running = undefined));
    return running;
  };
  return {
    async diagnose(request) {
      const { principal, origin, baseUrl } = request;
      if (!isUser(principal)) throw new TypeError('Only a user can call this operation.');
      await ownedInstallation(sql, principal.userId, 'run its checks');
      const forwarded = request.header('x-forwarded-for');
      const version = readVersion(sqlFolder);
      const checks = await diagnoseOnce();
      return {
        version,
        at: new Date().toISOString(),
        request: {
          url: baseUrl,
          address: origin.address,
          isForwarded: forwarded !== undefined,
          // If a proxy is not trusted, the client's address is that of the proxy.
          isTrusted: forwarded?.split(',').some((hop) => hop.trim() === origin.address) ?? false,
        },
        checks,
      };
    },
  };
}
