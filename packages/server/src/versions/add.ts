import type { Bundle, TaskManifest } from '@millrace/contract/runner';
import type { Transaction } from '../db/connect.ts';
import { newId } from '../db/ids.ts';
import { badRequest } from '../problem.ts';

/** The properties of a deployment besides its tasks. */
export interface NewUpload {
  readonly bundle: Bundle;
  readonly bytes: number;
  readonly nodeVersion: string;
  readonly git: object | undefined;
  readonly message: string | undefined;
  readonly externalId: string | undefined;
  readonly deployedBy: string | null;
  readonly deployedFrom: string | undefined;
}

export interface NewVersion {
  readonly contentHash: string;
  readonly tasks: readonly TaskManifest[];
  readonly sdkVersion?: string | null | undefined;
  /** Set if its files are to be uploaded. Without it, a runner has them in its folder. */
  readonly upload?: NewUpload;
}

export interface AddedVersion {
  readonly id: number;
  readonly version: string;
}

/** Serializes changes to the versions of an environment and to its current version. */
export const lockVersions = (tx: Transaction, env: number): Promise<unknown> =>
  tx`select pg_advisory_xact_lock(7144003, ${env})`;

/** 400 if two tasks have the same id. */
export function refuseDuplicates(tasks: readonly TaskManifest[]): void {
  const files = new Map<string, string>();
  for (const task of tasks) {
    const other = files.get(task.id);
    if (other !== undefined) {
      throw badRequest(
        `Two tasks are called "${task.id}": one in ${other}, one in ${task.filePath}. Rename one of them.`,
      );
    }
    files.set(task.id, task.filePath);
  }
}

/** Adds the next version of an environment with its tasks. The caller has locked its versions. */
export async function addVersion(
  tx: Transaction,
  env: number,
  { contentHash, tasks, sdkVersion = null, upload }: NewVersion,
  at: Date,
): Promise<AddedVersion> {
  const day = at.toISOString().slice(0, 10).replaceAll('-', '');
  const [row] = await tx<{ id: number; version: string }[]>`
    insert into versions (env, public_id, version, sequence, content_hash, created_at, sdk_version, state, is_uploaded, bundle, node_major,
                          platforms, requires, bytes, node_version, git, message, external_id, deployed_by, deployed_from, begun_at)
    select ${env}, ${newId('deployment')}, ${day} || '.' || (1 + count(*) filter (where version like ${`${day}.%`}))::text,
           1 + coalesce(max(sequence), 0), ${contentHash}, ${at}, ${sdkVersion},
           ${upload ? 'uploading' : 'ready'}, ${upload !== undefined}, ${jsonOf(upload?.bundle)}::jsonb, ${upload?.bundle.nodeMajor ?? null}::int,
           ${upload?.bundle.layers.map(({ platform }) => platform) ?? []}::text[], ${upload?.bundle.requires ?? []}::text[],
           ${upload?.bytes ?? 0}::bigint, ${upload?.nodeVersion ?? null}, ${jsonOf(upload?.git)}::jsonb, ${upload?.message ?? null},
           ${upload?.externalId ?? null}, ${upload?.deployedBy ?? null}, ${upload?.deployedFrom ?? null},
           ${upload ? at : null}::timestamptz
      from versions where env = ${env}
    returning id, version`;
  if (!row) throw new Error('a version was not inserted');
  await tx`
    insert into tasks (version_id, id, manifest, payload_schema, payload_schema_note)
    select ${row.id}, t.id, t.manifest::jsonb, t.schema::json, case when t.schema is null then t.note end
      from unnest(${tasks.map((task) => task.id)}::text[], ${tasks.map((task) => jsonOf(manifestOf(task)))}::text[],
                  ${tasks.map((task) => jsonOf(task.payloadSchema))}::text[], ${tasks.map((task) => task.payloadSchemaNote ?? null)}::text[])
             as t (id, manifest, schema, note)`;
  return row;
}

/** The part that every trigger reads. JSON Schemas are larger, and only shown to people. */
const manifestOf = (task: TaskManifest) => ({
  ...task,
  payloadSchema: undefined,
  payloadSchemaNote: undefined,
});

const jsonOf = (value: object | undefined): string | null =>
  value === undefined ? null : JSON.stringify(value);
