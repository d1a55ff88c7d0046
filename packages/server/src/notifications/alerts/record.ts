import { recordHere, type Actor } from '../../audit/record.ts';
import type { Environment } from '../../auth/principal.ts';
import type { Queryable } from '../../db/connect.ts';
import { alertOf, type AlertRow } from './alert.ts';

/** Records a change of an alert in the audit log, in the same transaction. */
export type Recorded = (
  tx: Queryable,
  what: 'created' | 'updated' | 'deleted',
  row: AlertRow,
  old?: AlertRow,
) => Promise<void>;

const propertiesOf = (row: AlertRow) => {
  const {
    id: _id,
    state: _state,
    firingSince: _since,
    lastSentAt: _sent,
    createdAt: _at,
    ...settings
  } = alertOf(row);
  return settings;
};

export const recordAlert = (environment: Environment, by: Actor): Recorded => {
  const record = recordHere(environment, by);
  return (tx, what, row, old) => {
    const isGone = what === 'deleted';
    return record(tx, {
      act: `alert.${what}`,
      target: row.id,
      old: isGone ? propertiesOf(row) : old && propertiesOf(old),
      new: isGone ? undefined : propertiesOf(row),
    });
  };
};
