import { recordAct, type Actor } from '../audit/record.ts';
import type { Environment } from '../auth/principal.ts';
import type { Queryable } from '../db/connect.ts';
import type { EndpointRow } from './endpoint.ts';

/** Records what became of an endpoint, in the transaction that did it. */
export type Recorded = (
  tx: Queryable,
  what: 'created' | 'updated' | 'deleted' | 'secretRotated',
  row: Pick<EndpointRow, 'id' | 'url' | 'types'>,
) => Promise<void>;

/** Of the address only the host: paths of receivers often are secrets. */
export const recordEndpoint =
  ({ projectRef, kind, branch }: Environment, by: Actor): Recorded =>
  (tx, what, { id, url, types }) =>
    recordAct(tx, by, {
      act: `endpoint.${what}`,
      target: id,
      in: { projectRef, environment: kind },
      [what === 'deleted' ? 'old' : 'new']: { host: new URL(url).host, types, branch: branch ?? undefined },
    });
