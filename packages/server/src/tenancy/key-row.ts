import type { AccessToken, Preset, SecretKey } from '@millrace/contract';
import type { Fragment, Queryable } from '../db/connect.ts';

export interface KeyRow {
  readonly id: string;
  readonly name: string;
  readonly preset: Preset | null;
  readonly tasks: string[] | null;
  readonly scopes: string[];
  readonly last_four: string;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
}

export const keyColumns = (sql: Queryable): Fragment => sql`
  id, name, preset, tasks, scopes, last_four, created_at, last_used_at, expires_at, revoked_at`;

export const keyOf = (row: KeyRow): SecretKey => ({
  id: row.id,
  name: row.name,
  preset: row.preset ?? undefined,
  tasks: row.tasks ?? undefined,
  scopes: row.scopes,
  ...lifeOf(row),
});

type TokenRow = Omit<KeyRow, 'preset' | 'tasks' | 'scopes'>;

export const tokenColumns = (sql: Queryable): Fragment => sql`
  id, name, last_four, created_at, last_used_at, expires_at, revoked_at`;

export const tokenOf = (row: TokenRow): AccessToken => ({ id: row.id, name: row.name, ...lifeOf(row) });

export type { TokenRow };

const lifeOf = (row: TokenRow) => ({
  lastFour: row.last_four,
  createdAt: row.created_at.toISOString(),
  lastUsedAt: row.last_used_at?.toISOString(),
  expiresAt: row.expires_at?.toISOString(),
  revokedAt: row.revoked_at?.toISOString(),
});
