import type { RunStep, StepKind } from '@millrace/contract';
import type { SerializedError } from '@millrace/contract/runner';
import type { Queryable } from '../../db/connect.ts';

export interface StepRow {
  readonly run_id: string;
  readonly name: string;
  readonly kind: StepKind;
  readonly status: RunStep['status'];
  readonly seq: number;
  readonly attempt: number;
  readonly tries: number;
  readonly version_id: number | null;
  readonly version: string | null;
  readonly started_at: Date;
  readonly ended_at: Date;
  readonly detail: string | null;
  readonly output: string | null;
  readonly output_type: string | null;
  readonly sealed: Buffer | null;
  readonly sealed_id: string | null;
  readonly error: SerializedError | null;
  readonly taken_from: string | null;
  readonly is_sequential: boolean;
}

interface StepPage {
  readonly size: number;
  readonly after?: string | undefined;
  /** Only the step with this name. */
  readonly name?: string | undefined;
}

/** A page of a run's steps, in the order in which they ended. */
export async function readSteps(
  sql: Queryable,
  env: number,
  run: string,
  { size, after, name }: StepPage,
): Promise<{ rows: StepRow[]; next: string | undefined }> {
  const beyond =
    after === undefined
      ? sql``
      : sql`and (s.seq, s.name) > (select c.seq, c.name from run_steps c
                                    where c.env = ${env} and c.run_id = ${run} and c.name = ${after})`;
  const only = name === undefined ? sql`` : sql`and s.name = ${name}`;
  const rows = await sql<StepRow[]>`
    select s.*, (select v.version from versions v where v.id = s.version_id) as version
      from run_steps s where s.env = ${env} and s.run_id = ${run} ${beyond} ${only} order by s.seq, s.name limit ${size + 1}`;
  const page = rows.slice(0, size);
  return { rows: page, next: rows.length > size ? page.at(-1)?.name : undefined };
}
