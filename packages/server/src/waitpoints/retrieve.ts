import type { Operations, Reply } from '@millrace/contract';
import type { MasterKey } from '../auth/seal.ts';
import type { Engine } from '../runs/engine/engine.ts';
import { detailColumns, detailsOf, type DetailedRow } from './details.ts';
import { tokenResponse } from './row.ts';

const maxRuns = 50;

/** A token with its completion value; undefined if it does not exist. */
export async function retrieveToken(
  { sql }: Engine,
  masterKey: MasterKey,
  env: number,
  id: string,
  baseUrl: string,
  {
    runs: mayReadRuns,
    details,
  }: {
    /** Whether the caller may see the runs. */
    readonly runs: boolean;
    readonly details: boolean;
  },
): Promise<Reply<Operations['retrieveWaitpointToken']> | undefined> {
  const [row] = await sql<(DetailedRow & { output: string | null; output_type: string | null })[]>`
    select w.*${details ? sql`, ${detailColumns(sql, maxRuns)}` : sql``} from waitpoints w where w.env = ${env} and w.id = ${id}`;
  if (!row) return undefined;
  const token = {
    ...tokenResponse(masterKey, row, baseUrl),
    ...(details && { details: detailsOf(row, mayReadRuns) }),
  };
  if (row.status === 'WAITING') {
    // With details, the runs are among them.
    if (!mayReadRuns || details) return token;
    const waitingRuns = await sql<{ id: string; taskIdentifier: string }[]>`
      select r.id, r.task as "taskIdentifier"
        from (
          select distinct run_id from waits
           where watched = ${id} and over_at is null and env = ${env} order by run_id limit 50
        ) w
        cross join lateral (
          -- The limit ensures a lookup, so that no plan reads all runs.
          select id, task from runs where env = ${env} and id = w.run_id limit 1
        ) r
       order by r.id`;
    return { ...token, waitingRuns: [...waitingRuns] };
  }
  if (row.status === 'TIMED_OUT') {
    const message = `The token was not completed by ${row.expires_at?.toISOString()}.`;
    return {
      ...token,
      output: JSON.stringify({ code: 'TIMEOUT', message }),
      outputType: 'application/json',
      outputIsError: true,
    };
  }
  return {
    ...token,
    ...(row.output !== null && { output: row.output }),
    outputType: row.output_type ?? 'application/json',
    outputIsError: false,
  };
}
