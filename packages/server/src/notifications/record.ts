import { recordHere, type Actor } from '../audit/record.ts';
import type { Environment } from '../auth/principal.ts';
import type { Queryable } from '../db/connect.ts';
import type { EndpointRow } from './endpoint.ts';

/** Records a change of an endpoint in the audit log, in the same transaction. */
export type Recorded = (
  tx: Queryable,
  what: 'created' | 'updated' | 'deleted' | 'secretRotated',
  row: EndpointProperties & Pick<EndpointRow, 'id'>,
  old?: EndpointProperties,
) => Promise<void>;

type EndpointProperties = Pick<EndpointRow, 'kind' | 'url' | 'types' | 'disabled_at'>;

/** Only the host of the URL, because paths of webhook URLs are often secret. */
const propertiesOf = ({ kind, url, types, disabled_at }: EndpointProperties) => ({
  kind,
  host: new URL(url).host,
  types,
  enabled: disabled_at === null,
});

export const recordEndpoint = (environment: Environment, by: Actor): Recorded => {
  const record = recordHere(environment, by);
  return (tx, what, row, old) => {
    const isGone = what === 'deleted';
    return record(tx, {
      act: `endpoint.${what}`,
      target: row.id,
      old: isGone ? propertiesOf(row) : old && propertiesOf(old),
      new: isGone ? undefined : propertiesOf(row),
    });
  };
};
