import type { Sql } from '../../db/connect.ts';
import type { OidcSettings } from './settings.ts';

/** The organization whose users log in with the provider; undefined if it does not exist. */
export async function organizationOf(
  sql: Sql,
  { organization }: Pick<OidcSettings, 'organization'>,
): Promise<string | undefined> {
  const [found] = await sql<{ id: string }[]>`
    select id from organizations where ${organization ?? null}::text is null or id = ${organization ?? null}::text
     order by created_at, id limit 1`;
  return found?.id;
}
