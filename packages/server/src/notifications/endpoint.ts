import type { EndpointKind, NotificationEndpoint } from '@millrace/contract';
import type { Queryable } from '../db/connect.ts';
import { notFound } from '../problem.ts';

export interface EndpointRow {
  readonly id: string;
  readonly env: number;
  readonly kind: EndpointKind;
  /** For a chat, only the origin, because the path is secret. */
  readonly url: string;
  readonly mail: MailSettings | null;
  readonly description: string | null;
  readonly types: readonly string[];
  readonly sealed: Buffer;
  readonly sealed_before: Buffer | null;
  readonly sealed_before_until: Date | null;
  readonly failing_since: Date | null;
  readonly disabled_at: Date | null;
  readonly disabled_by: NotificationEndpoint['disabledBy'];
  readonly created_at: Date;
}

/** The mail settings without the password. */
export type MailSettings = NonNullable<NotificationEndpoint['mail']>;

/** The encryption context of the endpoint's secret. */
export const endpointSecretContext = (id: string): string => `notification_endpoints:${id}`;

/** 404 unless the environment has the endpoint. */
export async function findEndpoint(sql: Queryable, env: number, id: string): Promise<EndpointRow> {
  const [row] = id.includes('\0')
    ? []
    : await sql<EndpointRow[]>`select * from notification_endpoints where env = ${env} and id = ${id}`;
  if (!row) throw endpointNotFound();
  return row;
}

export const endpointNotFound = () => notFound('Endpoint not found');

export const endpointOf = (row: EndpointRow): NotificationEndpoint => ({
  id: row.id,
  kind: row.kind,
  url: row.url,
  mail: row.mail,
  description: row.description,
  types: [...row.types],
  enabled: row.disabled_at === null,
  disabledBy: row.disabled_by,
  disabledAt: row.disabled_at?.toISOString() ?? null,
  failingSince: row.failing_since?.toISOString() ?? null,
  createdAt: row.created_at.toISOString(),
});
