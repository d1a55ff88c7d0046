import type { RecordHere } from '../../audit/record.ts';
import type { Queryable, Transaction } from '../../db/connect.ts';
import { conflict } from './conflict.ts';
import type { FoundVersion } from './find.ts';

interface Canary {
  readonly id: number;
  readonly version: string;
  readonly percent: number;
}

/** The canary of an environment, and its share of the new runs. */
export async function readCanary(sql: Queryable, env: number): Promise<Canary | undefined> {
  const [row] = await sql<Canary[]>`
    select v.id, v.version, c.canary_percent as percent
      from current_versions c join versions v on v.id = c.canary_id where c.env = ${env}`;
  return row;
}

/** 409 with advice if a version cannot be the canary of an environment whose versions the caller has locked. */
export async function refuseCanary(
  tx: Transaction,
  env: number,
  { version }: FoundVersion,
  current: string | undefined,
): Promise<void> {
  if (current === undefined)
    throw conflict(
      'canary_conflict',
      `No version is current, so a canary cannot share its runs. Promote version ${version} without a percentage.`,
    );
  if (version === current)
    throw conflict(
      'canary_conflict',
      `Version ${version} is the current version. Choose another one as the canary.`,
    );
  const canary = await readCanary(tx, env);
  if (canary && canary.version !== version)
    throw conflict(
      'canary_conflict',
      `Version ${canary.version} is the canary, with ${canary.percent} percent of the new runs. Promote it without a percentage, or abort it, before you promote another one.`,
    );
}

/** Makes a version the canary after `refuseCanary` has allowed it, or changes its share. */
export async function setCanary(
  tx: Transaction,
  env: number,
  { id, version }: FoundVersion,
  percent: number,
  record?: RecordHere,
): Promise<void> {
  const before = await readCanary(tx, env);
  if (before?.percent === percent) return;
  await tx`update current_versions set canary_id = ${id}, canary_percent = ${percent} where env = ${env}`;
  await record?.(tx, {
    act: 'version.canarySet',
    target: version,
    old: before && { percent: before.percent },
    new: { version, percent },
  });
}
