import type { Body, Operations, Reply } from '@millrace/contract';
import type { TaskManifest } from '@millrace/contract/runner';
import type { Environment, Principal } from '../../auth/principal.ts';
import type { Transaction } from '../../db/connect.ts';
import { addVersion, lockVersions, refuseDuplicates } from '../add.ts';
import { refuseSharedTwice } from '../queues.ts';
import { askForBlobs } from '../blobs/ask.ts';
import { bytesOf, checkBundle, contentsOf } from './check-bundle.ts';
import { contentHashOf } from './content-hash.ts';
import { landExternalId } from './external-id.ts';
import { findVersion, type StoredState } from './find.ts';
import type { DeploymentDependencies } from './promote.ts';
import { shortCodeOf } from './show.ts';

export interface CreateDependencies extends DeploymentDependencies {
  /** Maximum total size of a deployment's blobs. */
  readonly maxBundleBytes: number;
  /** Throws a Problem for tasks that could not become current. */
  readonly check: (environment: Pick<Environment, 'kind'>, tasks: readonly TaskManifest[]) => void;
}

/**
 * Begins a deployment, or continues one whose upload was interrupted. Content that was deployed before resolves to the earlier version, unless
 * that one failed or is archived.
 */
export async function createDeployment(
  { sql, clock, versions, wakes, maxBundleBytes, check }: CreateDependencies,
  environment: Environment,
  principal: Principal,
  body: Body<Operations['createDeployment']>,
): Promise<Reply<Operations['createDeployment']>> {
  const { bundle, tasks, externalId = '' } = body;
  refuseDuplicates(tasks);
  refuseSharedTwice(tasks);
  checkBundle(bundle, tasks);
  check(environment, tasks);
  const contents = contentsOf(bundle, maxBundleBytes);
  const contentHash = contentHashOf(bundle, tasks);
  const { id: env, projectId: project } = environment;
  const created = await sql.begin(async (tx) => {
    const at = new Date(clock.now());
    await lockVersions(tx, env);
    const [known] = await tx<{ id: number; version: string; state: StoredState }[]>`
      select id, version, state from versions
       where env = ${env} and content_hash = ${contentHash} and is_uploaded and state in ('uploading', 'ready')
       order by sequence desc limit 1`;
    if (known?.state === 'ready') {
      if (externalId !== '') await landExternalId(tx, env, known.id, externalId, at);
      return { ...(await findVersion(tx, env, known.version)), isNew: false, missing: [] };
    }
    const { version, id } =
      known ??
      (await addVersion(
        tx,
        env,
        {
          contentHash,
          tasks,
          sdkVersion: body.sdkVersion,
          upload: {
            bundle,
            bytes: bytesOf(contents),
            nodeVersion: body.nodeVersion,
            git: body.git,
            message: body.message,
            externalId: externalId || undefined,
            deployedBy: await nameOf(tx, principal),
            deployedFrom: body.host,
          },
        },
        at,
      ));
    if (known)
      await tx`
        update versions set begun_at = ${at}, external_id = coalesce(${externalId || null}, external_id) where id = ${id}`;
    const missing = await askForBlobs(tx, { env, project, version: id }, contents, at);
    return { ...(await findVersion(tx, env, version)), isNew: true, missing };
  });
  if (created.state === 'ready') {
    versions.forget(env);
    wakes.notify({ kind: 'versions', env });
  }
  const { publicId: id, version, state, isNew, missing } = created;
  return {
    id,
    version,
    shortCode: shortCodeOf(id),
    state: state === 'ready' ? 'ready' : 'uploading',
    isNew,
    missing,
  };
}

/** The name of the key used to deploy. */
async function nameOf(tx: Transaction, { credentialId }: Principal): Promise<string | null> {
  const [key] = await tx<{ name: string }[]>`select name from secret_keys where id = ${credentialId}`;
  return key?.name ?? null;
}
