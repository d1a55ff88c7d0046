import { buffer } from 'node:stream/consumers';
import type { Body, Deployment, Operations } from '@millrace/contract';
import type { Principal } from '../../../auth/principal.ts';
import type { RecordHere } from '../../../audit/record.ts';
import { testEngine, type TestEngine } from '../../../runs/testing/engine.ts';
import { archiveDeployment } from '../archive.ts';
import { retrieveBlob } from '../bundle.ts';
import { abortCanary } from '../abort-canary.ts';
import { defaultMaxBundleBytes } from '../check-bundle.ts';
import { createDeployment } from '../create.ts';
import { failDeployment } from '../fail.ts';
import { finalizeDeployment } from '../finalize.ts';
import { findVersion } from '../find.ts';
import { moveRuns } from '../move.ts';
import { promoteDeployment, type PromoteOptions } from '../promote.ts';
import { deploymentPruner } from '../retention.ts';
import { showDeployment } from '../show.ts';
import { uploadBlob } from '../upload.ts';
import type { BlobStore } from '../../store/store.ts';
import type { NewDeployment, TestBundle } from './bundle.ts';

export type Created = Awaited<ReturnType<typeof createDeployment>>;

/** Deployment operations on a separate database. */
export interface TestDeployments extends TestEngine {
  readonly acts: string[];
  /** Simulates a server restart with other settings. */
  setStore(store: BlobStore | undefined): void;
  /** The bytes of a blob as a runner receives them. */
  fetch(version: string, blob: string, start?: number): Promise<Buffer>;
  create(body: NewDeployment, maxBundleBytes?: number): Promise<Created>;
  /** Sends the blobs that the reply requests. */
  send(created: Created, bundle: TestBundle): Promise<void>;
  put(created: Pick<Created, 'id'>, blob: string, data: Buffer, offset?: number): Promise<number>;
  finalize(created: Pick<Created, 'id'>): Promise<Deployment>;
  /** The whole deployment, up to `ready`. */
  deploy(bundle: TestBundle): Promise<Created>;
  fail(created: Pick<Created, 'id'>): Promise<Deployment>;
  promoteTo(version: string, options?: Partial<PromoteOptions>): ReturnType<typeof promoteDeployment>;
  abortCanary(version: string): Promise<Deployment>;
  move(
    from: string,
    to: string,
    options?: Partial<Body<Operations['moveDeployment']>>,
    bounds?: { atOnce?: number; budgetMs?: number },
  ): ReturnType<typeof moveRuns>;
  archive(version: string): Promise<Deployment>;
  show(version: string): Promise<Deployment>;
  /** One tick of the job. */
  prune(): Promise<unknown>;
}

async function* once(data: Buffer): AsyncGenerator<Buffer> {
  yield data;
}

export async function testDeployments(store?: BlobStore): Promise<TestDeployments> {
  const t = await testEngine();
  const { engine, environment } = t;
  const env = environment.id;
  const principal: Principal = {
    kind: 'secretKey',
    credentialId: 'key_none',
    environment,
    scopes: ['admin'],
  };
  const acts: string[] = [];
  let activeStore = store;
  const record: RecordHere = async (_sql, { act, target }) => void acts.push(`${act} ${target}`);
  const create: TestDeployments['create'] = (body, maxBundleBytes = defaultMaxBundleBytes) =>
    createDeployment({ ...engine, maxBundleBytes, check() {} }, environment, principal, body);
  const put: TestDeployments['put'] = ({ id }, blob, data, offset = 0) =>
    uploadBlob(t.sql, environment, { deployment: id, blob, offset }, once(data));
  const send: TestDeployments['send'] = async (created, { blobs }) => {
    for (const { blob, received } of created.missing)
      await put(created, blob, (blobs.get(blob) as Buffer).subarray(received), received);
  };
  const finalize: TestDeployments['finalize'] = ({ id }) =>
    finalizeDeployment({ ...engine, store: activeStore }, environment, id, record);
  const job = { tick: () => deploymentPruner({ ...engine, store: activeStore }).tick() };
  return {
    ...t,
    acts,
    setStore: (other) => void (activeStore = other),
    create,
    put,
    send,
    finalize,
    async deploy(bundle) {
      const created = await create(bundle.body);
      await send(created, bundle);
      await finalize(created);
      return created;
    },
    fail: ({ id }) => failDeployment(engine, env, id, { name: 'Error', message: 'stopped' }),
    promoteTo: (version, options) =>
      promoteDeployment(engine, env, version, { force: true, allowRollbacks: false, ...options }, record),
    abortCanary: (version) => abortCanary(engine, env, version, record),
    move: (from, to, options, bounds) =>
      moveRuns({ ...engine, onMove() {} }, env, from, { to, dryRun: false, ...options }, record, bounds),
    archive: (version) => archiveDeployment(engine, env, version, record),
    async show(version) {
      return showDeployment(t.sql, env, await findVersion(t.sql, env, version), new Date(engine.clock.now()));
    },
    prune: () => job.tick(),
    async fetch(version, blob, start = 0) {
      const { read } = await retrieveBlob({ sql: t.sql, store: activeStore }, environment, version, blob);
      return buffer(await read(start));
    },
  };
}
