import { join } from 'node:path';
import { diagnosis as diagnosisShape, type CheckResult } from '@millrace/contract';
import { foreignPage } from '@millrace/contract/plain';
import {
  connect,
  diagnoseDatabase,
  ping,
  readAddress,
  runChecks,
  Skipped,
  type DiagnoseOptions,
} from '@millrace/server';
import { answerChecks, connectionChecks, folderChecks, machineChecks, serverChecks } from './checks.ts';
import type { ConnectionInput } from './connection/input.ts';
import { masterKey } from './connection/master-key.ts';
import type { MachineInput } from './machine/input.ts';
import { measureDisk } from './machine/measure.ts';
import type { DiagnosisResponse } from './server/input.ts';

type Measured = 'measure' | 'wallClock';

export interface Examine {
  readonly machine: Omit<MachineInput, Measured> & Partial<Pick<MachineInput, Measured>>;
  readonly database?: ConnectionInput;
  /** The texts of the master key and of the previous one. */
  readonly masterKeys: readonly string[];
  readonly server?:
    | {
        readonly url: string;
        readonly token?: string | undefined;
        readonly key?: string | undefined;
        readonly maxSilenceMs?: number;
      }
    | undefined;
  readonly timeoutMs: number;
  /** Database addresses, which may contain a password. */
  readonly secrets: readonly string[];
  readonly diagnosing?: DiagnoseOptions;
}

export interface Group {
  readonly group: 'machine' | 'database' | 'server';
  readonly checks: readonly CheckResult[];
}

export interface Examination {
  readonly groups: readonly Group[];
  /** Numbers of findings. */
  readonly errors: number;
  readonly warnings: number;
}

/** Runs all applicable checks. The groups run concurrently. */
export async function examine(options: Examine): Promise<Examination> {
  const { machine, database, server, timeoutMs } = options;
  const [ofMachine, ofDatabase, ofServer] = await Promise.all([
    runChecks(machineChecks, { measure: measureDisk, wallClock: Date.now, ...machine }, timeoutMs),
    database ? examineDatabase(database, options) : [],
    server ? examineServer(server, timeoutMs) : [],
  ]);
  // Findings from the database are not repeated by the server.
  const known = new Set(ofDatabase.map(({ name }) => name));
  const groups = [
    { group: 'machine', checks: ofMachine },
    { group: 'database', checks: ofDatabase },
    { group: 'server', checks: ofServer.filter(({ name }) => !known.has(name)) },
  ] as const;
  const redacted = groups
    .filter(({ checks }) => checks.length > 0)
    .map(({ group, checks }) => ({ group, checks: withoutSecrets(checks, secretsOf(options)) }));
  const all = redacted.flatMap(({ checks }) => checks);
  const findings = (state: CheckResult['state']): number =>
    all.filter((check) => check.state === state).reduce((sum, check) => sum + check.findings.length, 0);
  return { groups: redacted, errors: findings('error'), warnings: findings('warning') };
}

async function examineDatabase(
  input: ConnectionInput,
  { masterKeys, timeoutMs, diagnosing }: Examine,
): Promise<CheckResult[]> {
  const folders = await runChecks(folderChecks, input, timeoutMs);
  if (folders.some(({ findings }) => findings.length > 0)) return folders;
  const connections = [...folders, ...(await runChecks(connectionChecks, input, timeoutMs))];
  // A pooler without a direct address is reported, but does not prevent the other checks.
  const isOpen = connections.every(
    ({ name, state }) => name === 'database-pooler' || state === 'ok' || state === 'skipped',
  );
  if (!isOpen) return connections;
  const { database } = await input.open();
  const route = await ping(database);
  const sql = connect(route.database, { name: 'millrace doctor', max: 3, pooler: route.pooler });
  try {
    const file = input.data === undefined ? undefined : join(input.data, 'master.key');
    const keys = await runChecks([masterKey], { texts: masterKeys, file, sql }, timeoutMs);
    return [...connections, ...keys, ...(await diagnoseDatabase(sql, { timeoutMs, ...diagnosing }))];
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function examineServer(
  { url, token, key, maxSilenceMs = 8_000 }: NonNullable<Examine['server']>,
  timeoutMs: number,
): Promise<CheckResult[]> {
  let response: Promise<DiagnosisResponse> | undefined;
  const diagnose = (): Promise<DiagnosisResponse> => {
    response ??= askServer(url, token, timeoutMs);
    return response;
  };
  const reading = (): Promise<DiagnosisResponse> =>
    diagnose().catch((error: unknown) => {
      throw error instanceof Skipped ? error : new Skipped('the server did not return its findings');
    });
  const input = { url, token, key, maxSilenceMs, diagnose, requireDiagnosis: reading };
  const answered = await runChecks(answerChecks, input, timeoutMs);
  if (answered.some(({ state }) => state !== 'ok')) return answered;
  const own = await runChecks(serverChecks, input, timeoutMs);
  const checks = await diagnose().then(
    ({ diagnosis }) => diagnosis.checks,
    // `server-diagnosis` reports it.
    () => [],
  );
  return [...answered, ...own, ...checks];
}

async function askServer(
  url: string,
  token: string | undefined,
  timeoutMs: number,
): Promise<DiagnosisResponse> {
  if (token === undefined)
    throw new Skipped('this check requires a personal access token of an owner: set MILLRACE_ACCESS_TOKEN');
  const requestedAt = Date.now();
  const response = await fetch(`${url}/api/v1/doctor`, {
    headers: { authorization: `Bearer ${token}` },
    redirect: 'error',
    // Checks of a slow database have their own timeouts.
    signal: AbortSignal.timeout(timeoutMs),
  });
  const text = await response.text();
  const page = foreignPage(response.status, text);
  if (page !== undefined) throw new Error(page);
  const body = JSON.parse(text) as { readonly error?: string };
  if (response.status === 401 || response.status === 403)
    throw new Skipped(`the server rejected the token: ${body.error ?? response.status}`);
  if (response.status === 404) throw new Skipped('the release of the server cannot run checks');
  if (!response.ok) throw new Error(`status ${response.status}: ${body.error ?? ''}`);
  const answeredAt = Date.now();
  const { data: diagnosis } = diagnosisShape.safeParse(body);
  if (!diagnosis) throw new Error('the response is not from a Millrace server of this release');
  return { diagnosis, requestedAt, answeredAt };
}

/** Texts that must never be shown in any message. */
function secretsOf({ masterKeys, server, secrets }: Examine): string[] {
  const passwords = secrets.flatMap((address) => {
    try {
      const { password, searchParams } = readAddress(address).url;
      return [password, decodeURIComponent(password), searchParams.get('password') ?? ''];
    } catch {
      // It is never connected to, and messages do not quote it.
      return [];
    }
  });
  return [...masterKeys, server?.token ?? '', server?.key ?? '', ...secrets, ...passwords].filter(
    (secret) => secret.length >= 4,
  );
}

const withoutSecrets = (checks: readonly CheckResult[], secrets: readonly string[]): CheckResult[] => {
  const hide = (text: string): string =>
    secrets.reduce((masked, secret) => masked.replaceAll(secret, '[secret]'), text);
  return checks.map(({ reason, ...check }) => ({
    ...check,
    findings: check.findings.map(({ what, why, fix }) => ({ what: hide(what), why, fix: hide(fix) })),
    ...(reason !== undefined && { reason: hide(reason) }),
  }));
};
