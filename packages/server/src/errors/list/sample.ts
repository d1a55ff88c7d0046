import { maxSampleMessage } from '@millrace/contract';
import type { Fragment, Queryable } from '../../db/connect.ts';

/** The message of the first error of the group `g`, as thrown. */
export const sampleMessage = (sql: Queryable): Fragment => sql`
  (select left(s.sample ->> 'message', ${maxSampleMessage}) from error_samples s where s.fingerprint_id = g.number)`;
