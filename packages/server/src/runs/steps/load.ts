import { storedType, type Operations, type Reply, type StoredStep } from '@millrace/contract';
import type { MasterKey } from '../../auth/seal.ts';
import { Problem } from '../../problem.ts';
import type { Engine } from '../engine/engine.ts';
import type { AddressOf } from '../retrieve/retrieve.ts';
import { readSteps, type StepRow } from './read.ts';
import { unsealResult } from './sealed.ts';

/** Steps of one page: their results may be large. */
const pageSize = 100;

export interface LoadOptions {
  readonly fence: number;
  readonly after: string | undefined;
  /** Only the step with this name. */
  readonly name: string | undefined;
  readonly addressOf: AddressOf;
  /**
   * Set if the caller is the run's code, which reads its own results including secrets. If undefined, the caller gets the readable form.
   */
  readonly masterKey: MasterKey | undefined;
}

/** The results that earlier executions of a run stored, for its current attempt. 409 if the caller's attempt has ended. */
export async function loadSteps(
  { sql }: Engine,
  env: number,
  run: string,
  { fence, after, name, addressOf, masterKey }: LoadOptions,
): Promise<Reply<Operations['loadRunSteps']>> {
  // The pages of one attempt are consistent: no other attempt stores steps while it has its lease.
  const [lease] = await sql<{ version_id: number }[]>`
    (select l.version_id from leases l where l.env = ${env} and l.run_id = ${run} and l.fence = ${fence} limit 1)
    union all
    (select u.version_id from suspended u where u.env = ${env} and u.run_id = ${run} and u.fence = ${fence} limit 1)`;
  if (!lease)
    throw new Problem('attempt_ended', 'This attempt has ended and can no longer read steps.', {}, false);
  const { rows, next } = await readSteps(sql, env, run, { size: pageSize, after, name });
  return {
    data: rows.map((row) => storedStep(row, lease.version_id, addressOf, masterKey)),
    pagination: next === undefined ? {} : { next },
  };
}

function storedStep(
  row: StepRow,
  version: number,
  addressOf: AddressOf,
  masterKey: MasterKey | undefined,
): StoredStep {
  const { output, output_type: type, error } = row;
  return {
    name: row.name,
    kind: row.kind,
    status: row.status,
    attempt: row.attempt,
    seq: row.seq,
    at: row.ended_at.getTime(),
    isOtherVersion: row.version_id !== null && row.version_id !== version,
    isSequential: row.is_sequential,
    ...(row.detail !== null && { detail: row.detail }),
    ...(error && { error: { ...error } }),
    ...(output !== null && resultOf()),
  };

  function resultOf() {
    const { sealed, sealed_id: id } = row;
    if (masterKey && sealed && id !== null) return unsealResult(masterKey, id, sealed);
    if (type === storedType) return { outputPresignedUrl: addressOf(output ?? ''), outputType: type };
    return { output: output ?? '', outputType: type ?? 'application/json' };
  }
}
