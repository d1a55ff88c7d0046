import { z } from 'zod';
import { webAddressOfRemote } from '../git-remote.ts';
import { maxJsonEscapes, maxJsonMembers } from '../json.ts';
import { operation } from '../operation.ts';
import { bundle, digest, platform } from '../runner/bundle.ts';
import { payloadSchema, taskManifest } from '../runner/manifest.ts';
import { cursors, date, keyOf, nameOf, period } from './shapes.ts';

/** The states of a deployment as named by the published SDK. Millrace never uses CANCELED and TIMED_OUT. */
export const deploymentStatuses = [
  'PENDING',
  'BUILDING',
  'DEPLOYING',
  'DEPLOYED',
  'FAILED',
  'CANCELED',
  'TIMED_OUT',
] as const;

/**
 * `uploading`: not all of its files have been received. `ready`: it can be promoted. `current`: new runs start on it. `draining`: it was
 * current, and runs are still bound to it. `drained`: it was current, and no runs are bound to it. `failed`: it was abandoned. `archived`: its
 * files have been deleted.
 */
export const deploymentStates = [
  'uploading',
  'ready',
  'current',
  'draining',
  'drained',
  'failed',
  'archived',
] as const;

const git = z.object({
  commit: z.string().max(64).optional(),
  branch: z.string().max(255).optional(),
  /** The first line of the commit message. */
  message: z.string().max(1_000).optional(),
  /** Whether the folder had uncommitted changes. */
  dirty: z.boolean().optional(),
  /** The name of the author of the commit. */
  author: z.string().max(255).optional(),
  /** The web address of the repository, without credentials, such as `https://github.com/acme/shop`. */
  remote: z.string().max(1_000).optional(),
});
/** As a client sends it: the remote may be any address that git accepts. */
const sentGit = git.extend({
  remote: z.string().max(1_000).transform(webAddressOfRemote).optional(),
});

export const deployment = z.object({
  id: z.string(),
  createdAt: date,
  shortCode: z.string(),
  /** Day and counter, such as `20261121.3`. */
  version: z.string(),
  runtime: z.string().nullable(),
  runtimeVersion: z.string().nullable(),
  status: z.enum(deploymentStatuses),
  /** When it first became current. */
  deployedAt: date.optional(),
  git: git.optional(),
  error: z.object({ name: z.string(), message: z.string() }).optional(),
  externalId: z.string().nullable(),
  state: z.enum(deploymentStates),
  /** The percentage of new runs that start on it while another version is current; null unless it is the canary. */
  canaryPercent: z.number().int().nullable(),
  contentHash: z.string(),
  /** False for a version that a runner registered from its folder: only runners that have this folder serve it. */
  isUploaded: z.boolean(),
  /** Number of tasks. */
  tasks: z.number().int(),
  /** Total size of its files and layers, compressed. */
  bytes: z.number().int(),
  platforms: z.array(platform),
  requires: z.array(z.string()),
  sdkVersion: z.string().nullable(),
  message: z.string().nullable(),
  /** The key name or user that deployed it, and the host. */
  deployedBy: z.string().nullable(),
  deployedFrom: z.string().nullable(),
  /** Number of connected runners that have loaded it. */
  runners: z.number().int(),
  /** Number of runs that are bound to it and have not ended. */
  liveRuns: z.number().int(),
});
export type Deployment = z.infer<typeof deployment>;

/** A task that a version declares. */
export const deployedTask = z.object({
  id: z.string(),
  /** Relative to the project. */
  filePath: z.string(),
  description: z.string().nullable(),
  /** JSON Schema (draft 2020-12) of the trigger payload; null if there is none. */
  payloadSchema: payloadSchema.nullable(),
  /** The reason why there is no JSON Schema; null if there is one, and for a task without a schema. */
  payloadSchemaNote: z.string().nullable(),
});

/** A deployment with its declared tasks, by id. */
export const deploymentDetails = deployment.extend({ declaredTasks: z.array(deployedTask) });
export type DeploymentDetails = z.infer<typeof deploymentDetails>;

const read = { secretKey: true, action: 'read', on: 'deployments' } as const;
const write = { secretKey: true, action: 'write', on: 'deployments', forbidsRuns: true } as const;
/** The access of `millrace deploy`. */
const deploy = { ...write, action: 'deploy' } as const;
/** Code is uploaded by the CLI, never by a browser. */
const upload = { ...deploy, browser: false } as const;
const byId = z.object({ deploymentId: z.string().min(1).max(128) });
/** A version such as `20261121.3`, or the id of a deployment. */
const byVersion = z.object({ version: z.string().min(1).max(128) });

export const createDeployment = operation({
  id: 'createDeployment',
  method: 'POST',
  path: '/api/v1/deployments',
  tag: 'deployments',
  summary: 'Start a deployment: register its tasks, and return the files to upload',
  access: upload,
  body: z.object({
    bundle,
    tasks: z.array(taskManifest).min(1, 'a deployment needs at least one task').max(10_000),
    /** The exact Node.js version of the build. */
    nodeVersion: z.string().max(64),
    sdkVersion: z.string().max(64).optional(),
    git: sentGit.optional(),
    message: nameOf(1_000).optional(),
    /** Runs triggered with this `externalDeploymentId` start on this deployment. */
    externalId: keyOf(128)
      .transform((text) => text.trim())
      .optional(),
    /** The host from which it is deployed. */
    host: z.string().max(255).optional(),
  }),
  bodyLimit: 4 * 1024 * 1024,
  maxMembers: 2 * maxJsonMembers,
  maxEscapes: maxJsonEscapes,
  reply: z.object({
    id: z.string(),
    version: z.string(),
    shortCode: z.string(),
    state: z.enum(deploymentStates),
    /** False if the same content was deployed before, in which case the version is the same. */
    isNew: z.boolean(),
    /** Blobs that the server lacks, with the number of bytes that it has of each. */
    missing: z.array(z.object({ blob: digest, received: z.number().int() })),
  }),
  errors: [409, 413, 422],
});

export const uploadBlob = operation({
  id: 'uploadBlob',
  method: 'PUT',
  path: '/api/v1/deployments/:deploymentId/blobs/:blob',
  tag: 'deployments',
  summary: 'Upload a compressed file of a deployment, or the rest of it',
  access: upload,
  params: byId.extend({ blob: digest }),
  query: z.object({
    /** The number of bytes that the server already has, from which an interrupted upload continues. */
    offset: z.coerce.number().int().min(0).default(0),
  }),
  bodyStream: ['application/octet-stream'],
  unlimited: true,
  reply: z.object({ received: z.number().int() }),
  errors: [404, 409, 413, 422],
});

export const finalizeDeployment = operation({
  id: 'finalizeDeployment',
  method: 'POST',
  path: '/api/v1/deployments/:deploymentId/finalize',
  tag: 'deployments',
  summary: 'Finalize the upload: every file is verified, and the version can be promoted',
  access: upload,
  params: byId,
  reply: deployment,
  errors: [404, 409, 422],
});

export const failDeployment = operation({
  id: 'failDeployment',
  method: 'POST',
  path: '/api/v1/deployments/:deploymentId/fail',
  tag: 'deployments',
  summary: 'Mark a deployment that is not finalized as failed',
  access: upload,
  params: byId,
  body: z.object({ error: z.object({ name: z.string().max(256), message: z.string().max(8_192) }) }),
  reply: deployment,
  errors: [404, 409],
});

export const promoteDeployment = operation({
  id: 'promoteDeployment',
  method: 'POST',
  path: '/api/v1/deployments/:version/promote',
  tag: 'deployments',
  summary: 'Promote a version to current: new runs start on it',
  access: deploy,
  params: byVersion,
  query: z.object({
    /** Whether the version may be older than the current one. A rollback requires the scope `write:deployments`. */
    allowRollbacks: z.stringbool().default(false),
    /** Whether to promote even if no runner has loaded it. */
    force: z.stringbool().default(false),
    /** Makes it the canary instead: only this percentage of the new runs starts on it, the others on the current version. */
    percent: z.coerce
      .number('must be a whole number from 1 to 99; leave it out for all runs')
      .int('must be a whole number from 1 to 99; leave it out for all runs')
      .min(1, 'must be a whole number from 1 to 99; leave it out for all runs')
      .max(99, 'must be a whole number from 1 to 99; leave it out for all runs')
      .optional(),
  }),
  reply: z.object({
    id: z.string(),
    version: z.string(),
    shortCode: z.string(),
    /** The previously current version, or null if there was none. */
    replaced: z.string().nullable(),
    /** The percentage of new runs if it is now the canary, or null if it is current. */
    canaryPercent: z.number().int().nullable(),
  }),
  errors: [404, 409],
});

export const abortCanary = operation({
  id: 'abortCanary',
  method: 'POST',
  path: '/api/v1/deployments/:version/abort-canary',
  tag: 'deployments',
  summary: 'End the canary: new runs start on the current version again',
  access: write,
  params: byVersion,
  reply: deployment,
  errors: [404, 409],
});

/**
 * The statuses of runs that can be moved to another version. `RETRYING`: between two attempts, which a run shows as EXECUTING. `WAITING`:
 * at a wait in its code, which is no longer held by any runner.
 */
export const movableStatuses = ['QUEUED', 'DELAYED', 'RETRYING', 'WAITING', 'PENDING_VERSION'] as const;

export const moveDeployment = operation({
  id: 'moveDeployment',
  method: 'POST',
  path: '/api/v1/deployments/:version/move',
  tag: 'deployments',
  summary: 'Bind the waiting runs of a version to another version',
  access: write,
  params: byVersion,
  body: z.strictObject({
    /** The target version, which must be ready: its name, or the id of its deployment. */
    to: z.string().min(1).max(128),
    /** Whether to move nothing and only report the runs that would be moved. */
    dryRun: z.boolean().default(false),
    /** Only runs of these tasks. */
    task: z.array(keyOf(256).min(1)).min(1).max(100).optional(),
    /** Only runs with these statuses. */
    status: z.array(z.enum(movableStatuses)).min(1).max(movableStatuses.length).optional(),
  }),
  reply: z.object({
    from: z.string(),
    to: z.string(),
    /** The runs that were waiting when the call began. */
    waiting: z.array(
      z.object({ task: z.string(), status: z.enum(movableStatuses), count: z.number().int() }),
    ),
    /** Tasks among them that the target version lacks. If there are any, nothing is moved. */
    missingTasks: z.array(z.string()),
    /** Live attempts of the version. They are not moved. */
    staying: z.number().int(),
    moved: z.number().int(),
    /** False after some seconds if more runs remain: repeat the call. */
    isComplete: z.boolean(),
  }),
  errors: [404, 409, 422],
});

export const archiveDeployment = operation({
  id: 'archiveDeployment',
  method: 'POST',
  path: '/api/v1/deployments/:version/archive',
  tag: 'deployments',
  summary: 'Archive a version, which deletes its files; it must not be current or have live runs',
  access: write,
  params: byVersion,
  reply: deployment,
  errors: [404, 409],
});

export const listDeployments = operation({
  id: 'listDeployments',
  method: 'GET',
  path: '/api/v1/deployments',
  tag: 'deployments',
  summary: 'List deployments, newest first',
  access: read,
  query: z.object({
    'page[size]': z.coerce.number().int().min(1).max(100).default(20),
    /** The id of a deployment. */
    'page[after]': z.string().max(128).optional(),
    status: z.enum(deploymentStatuses).optional(),
    period: period.optional(),
    from: z.string().optional(),
    to: z.string().optional(),
  }),
  reply: z.object({ data: z.array(deployment), pagination: cursors }),
});

export const retrieveLatestDeployment = operation({
  id: 'retrieveLatestDeployment',
  method: 'GET',
  path: '/api/v1/deployments/latest',
  tag: 'deployments',
  summary: 'Retrieve the newest deployment',
  access: read,
  reply: deployment,
  errors: [404],
});

export const retrieveCurrentDeployment = operation({
  id: 'retrieveCurrentDeployment',
  method: 'GET',
  path: '/api/v1/deployments/current',
  tag: 'deployments',
  summary: 'Retrieve the current deployment',
  access: read,
  reply: deployment,
  errors: [404],
});

export const retrieveDeployment = operation({
  id: 'retrieveDeployment',
  method: 'GET',
  path: '/api/v1/deployments/:version',
  tag: 'deployments',
  summary: 'Retrieve a deployment with its tasks, by its id or version',
  access: read,
  params: byVersion,
  reply: deploymentDetails,
  errors: [404],
});
