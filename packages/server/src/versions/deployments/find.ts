import type { Queryable } from '../../db/connect.ts';
import { notFound } from '../../problem.ts';

export type StoredState = 'uploading' | 'ready' | 'failed' | 'archived';

/** The properties that determine a version's lifecycle. */
export interface FoundVersion {
  readonly id: number;
  readonly publicId: string;
  readonly version: string;
  readonly sequence: number;
  readonly state: StoredState;
  readonly isUploaded: boolean;
  readonly error: { readonly name: string; readonly message: string } | null;
}

export const versionNotFound = (idOrVersion: string) =>
  notFound(`This environment has no version "${idOrVersion.slice(0, 128)}".`, false, 'version_not_found');

/** A version of an environment by its name or by the id of its deployment. 404 if it does not exist. */
export async function findVersion(sql: Queryable, env: number, idOrVersion: string): Promise<FoundVersion> {
  const [row] = idOrVersion.includes('\0')
    ? []
    : await sql<FoundVersion[]>`
        select id, public_id as "publicId", version, sequence, state, is_uploaded as "isUploaded", error
          from versions where env = ${env} and ${
            idOrVersion.startsWith('deployment_')
              ? sql`public_id = ${idOrVersion}`
              : sql`version = ${idOrVersion}`
          }`;
  if (!row) throw versionNotFound(idOrVersion);
  return row;
}
