import type { CheckResult, OperationsOf } from '@millrace/contract';
import { ownedInstallation } from '../../auth/installation-owner.ts';
import { isUser } from '../../auth/principal.ts';
import { connect, type Sql } from '../../db/connect.ts';
import type { Route } from '../../db/database.ts';
import type { Delivery } from '../../db/wake.ts';
import { readVersion, sqlFolder } from '../../db/sql-folder.ts';
import type { JobWatch } from '../../jobs/watch.ts';
import type { HandlersOf } from '../../request.ts';
import { processChecks } from './checks.ts';
import { databaseWrites } from './database/database-writes.ts';
import { diagnoseDatabase } from './diagnose.ts';
import { defaultLimits } from './limits.ts';
import type { ProcessInput } from './process-input.ts';
import { runChecks } from './run.ts';

export interface DoctorDependencies {
  readonly sql: Sql;
  /** A route on which sessions last. */
  readonly direct: Route;
  readonly jobs: Pick<JobWatch, 'states'>;
  readonly delivery: Delivery;
  readonly runners: ProcessInput['runners'];
  /** How long ended runs are retained, unless their environment has its own setting. */
  readonly runRetentionMs: number;
}

export function doctorHandlers({
  sql,
  direct,
  jobs,
  delivery,
  runners,
  runRetentionMs,
}: DoctorDependencies): HandlersOf<OperationsOf<'doctor'>> {
  const limits = { ...defaultLimits, runRetentionMs };
  /** Concurrent requests share one diagnosis, so that it cannot be used to overload the database. */
  let running: Promise<CheckResult[]> | undefined;
  const diagnoseOnce = (): Promise<CheckResult[]> => {
    running ??= diagnoseNow().finally(() => (running = undefined));
    return running;
  };
  async function diagnoseNow(): Promise<CheckResult[]> {
    // Not the pools of the server: while every commit hangs, all their connections are in use.
    const own = connect(direct.database, {
      name: 'millrace doctor',
      max: 3,
      pooler: direct.pooler,
      isIndependent: true,
    });
    try {
      const ofDatabase = await diagnoseDatabase(own, { limits });
      const acceptsWrites = ofDatabase.every(
        ({ name, findings }) => name !== databaseWrites.name || findings.length === 0,
      );
      const input = { jobs, delivery, runners, acceptsWrites, limits };
      return [...ofDatabase, ...(await runChecks(processChecks, input))];
    } finally {
      await own.end({ timeout: 1 });
    }
  }
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
