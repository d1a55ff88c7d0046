import { environmentTypes, type EnvironmentKind } from '@millrace/contract';
import { environmentSlug } from '../auth/slug.ts';
import type { Queryable } from '../db/connect.ts';

/** A notification with its environment and project. */
export interface NotificationRow {
  readonly type: string;
  readonly at: Date;
  readonly data: Record<string, unknown>;
  readonly public_id: string;
  readonly kind: EnvironmentKind;
  readonly branch: string | null;
  readonly project_ref: string;
  readonly project_name: string;
}

/** The columns of a `NotificationRow`, from a notification `n`, its environment `e` and its project `p`. */
export const notificationColumns = (sql: Queryable) => sql`
  n.type, n.at, n.data, e.public_id, e.kind, e.branch, p.ref as project_ref, p.name as project_name`;

/** The body of a notification: `type`, `timestamp` and `data` as in Standard Webhooks, with environment and project. */
export const bodyOf = (row: NotificationRow) => ({
  type: row.type,
  timestamp: row.at.toISOString(),
  data: row.data,
  environment: {
    id: row.public_id,
    slug: environmentSlug(row.kind, row.branch),
    type: environmentTypes[row.kind],
    ...(row.branch !== null && { branchName: row.branch }),
  },
  project: { ref: row.project_ref, name: row.project_name },
});
