import { z } from 'zod';
import { maxJsonMembers } from '../json.ts';
import { operation } from '../operation.ts';
import { cursors, date } from './shapes.ts';

/** Replaces the value of a secret variable wherever values are shown. */
export const redacted = '<redacted>';

/** A variable as returned by the API: the value of a secret one is `<redacted>`. */
export const environmentVariable = z.object({
  name: z.string(),
  value: z.string(),
  isSecret: z.boolean(),
  /** Only in branches: whether the branch does not have its own value, so this is the parent's value. */
  isInherited: z.boolean().optional(),
});
export type EnvironmentVariable = z.infer<typeof environmentVariable>;

const inProject = z.object({ projectRef: z.string().min(1).max(128) });
const inEnvironment = inProject.extend({
  /** `dev`, `stg`, `prod` or `preview`, in any spelling; a branch by header, or by its slug. */
  env: z.string().min(1).max(300),
});
const oneVariable = inEnvironment.extend({ name: z.string().min(1).max(2_048) });

const read = {
  secretKey: true,
  personalAccessToken: true,
  role: 'viewer',
  action: 'read',
  on: 'envvars',
} as const;
const write = {
  secretKey: true,
  personalAccessToken: true,
  role: 'member',
  action: 'write',
  on: 'envvars',
} as const;
const done = z.object({ success: z.boolean() });

/** Maximum body size of an import: the variables of an environment, as JSON. */
export const importLimit = 4 * 1024 * 1024;

export const listVariables = operation({
  id: 'listVariables',
  method: 'GET',
  path: '/api/v1/projects/:projectRef/envvars/:env',
  tag: 'environment variables',
  summary: "List an environment's variables, a branch's with those of its parent",
  access: read,
  params: inEnvironment,
  reply: z.array(environmentVariable),
  errors: [404],
});

export const retrieveVariable = operation({
  id: 'retrieveVariable',
  method: 'GET',
  path: '/api/v1/projects/:projectRef/envvars/:env/:name',
  tag: 'environment variables',
  summary: 'Retrieve a variable',
  access: read,
  params: oneVariable,
  reply: environmentVariable,
  errors: [404],
});

export const createVariable = operation({
  id: 'createVariable',
  method: 'POST',
  path: '/api/v1/projects/:projectRef/envvars/:env',
  tag: 'environment variables',
  summary: 'Create or update a variable',
  access: write,
  checksTexts: true,
  listsIssues: true,
  params: inEnvironment,
  body: z.object({
    name: z.string(),
    value: z.string(),
    /** Default: false for a new variable, unchanged for an existing one. */
    isSecret: z.boolean().optional(),
  }),
  reply: done,
  errors: [404],
});

const newValue = z.object({ value: z.string() });

export const updateVariable = operation({
  id: 'updateVariable',
  method: 'PUT',
  path: '/api/v1/projects/:projectRef/envvars/:env/:name',
  tag: 'environment variables',
  summary: 'Set the value of an existing variable of the project in this environment',
  access: write,
  checksTexts: true,
  listsIssues: true,
  params: oneVariable,
  body: newValue,
  reply: done,
  errors: [404],
});

export const updateVariableByPost = operation({
  ...updateVariable,
  id: 'updateVariableByPost',
  method: 'POST',
  summary: 'The same as PUT, for older clients',
});

export const deleteVariable = operation({
  id: 'deleteVariable',
  method: 'DELETE',
  path: '/api/v1/projects/:projectRef/envvars/:env/:name',
  tag: 'environment variables',
  summary: "Delete a variable's value in this environment; on a branch, the parent's value applies again",
  access: write,
  params: oneVariable,
  reply: done,
  errors: [404],
});

const namedValues = z.record(z.string(), z.string());

export const importVariables = operation({
  id: 'importVariables',
  method: 'POST',
  path: '/api/v1/projects/:projectRef/envvars/:env/import',
  tag: 'environment variables',
  summary: 'Set many variables at once, all or none; also a dotenv file as multipart/form-data',
  access: write,
  checksTexts: true,
  params: inEnvironment,
  body: z.object({
    /** By name, as a list of `{ name, value }`, or the text of a dotenv file. In a form: that file. */
    variables: z.union([namedValues, z.array(z.object({ name: z.string(), value: z.string() })), z.string()]),
    /** For a branch: variables to set in its parent, in addition to the branch's own. */
    parentVariables: namedValues.optional(),
    /** If it is false, nothing is written when any of the variables already has a value. In a form: `true` or `false`. */
    override: z
      .union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')])
      .default(false),
    /**
     * Applies to all of them. Default: unchanged for an existing variable; for a variable that is new in a branch, the parent's setting.
     */
    isSecret: z
      .union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')])
      .optional(),
    /** Stored with the revision. */
    source: z
      .union([
        z.object({ type: z.literal('user'), userId: z.string().max(256) }),
        z.object({ type: z.literal('integration'), integration: z.string().max(256) }),
      ])
      .optional(),
  }),
  bodyForm: 'variables',
  bodyLimit: importLimit,
  maxMembers: maxJsonMembers,
  reply: done,
  errors: [404],
});

export const readVariables = operation({
  id: 'readVariables',
  method: 'GET',
  path: '/api/v1/projects/:projectRef/envvars',
  tag: 'environment variables',
  summary:
    "List the variables of the key's environment with their values, including secrets, for programs that run in it",
  access: { secretKey: true, action: 'read', on: 'envvars', forbidsRuns: true, browser: false },
  params: inProject,
  reply: z.object({
    variables: namedValues,
    /** The revision of these values; 0 if no variable was ever set. */
    revision: z.number().int(),
  }),
});

export const variableChange = z.object({
  name: z.string(),
  change: z.enum(['added', 'changed', 'removed']),
  isSecret: z.boolean(),
});

/** One change of an environment's variables: who made it, when, and the names. Never a value. */
export const variableRevision = z.object({
  /** Grows with every change in the environment and its branches. */
  revision: z.number().int(),
  at: date,
  act: z.enum(['set', 'import', 'delete', 'rollback']),
  /** The user, if a personal access token was used. */
  userId: z.string().optional(),
  /** The key or token that was used. */
  credentialId: z.string(),
  /** The source given by an import. */
  source: z.record(z.string(), z.unknown()).optional(),
  /** For a rollback: the restored revision. */
  restored: z.number().int().optional(),
  changes: z.array(variableChange),
});
export type VariableRevision = z.infer<typeof variableRevision>;

const revisionNumber = z.number().int().min(0).max(2_147_483_647);

/** A revision in a query, where an empty text means none. It must not be read as 0, the state before any variable was set. */
const revisionInQuery = z.preprocess(
  (text) => (typeof text === 'string' && text.trim() === '' ? undefined : text),
  z.coerce.number().pipe(revisionNumber),
);

export const listVariableRevisions = operation({
  id: 'listVariableRevisions',
  method: 'GET',
  path: '/api/v1/projects/:projectRef/envvar-revisions/:env',
  tag: 'environment variables',
  summary: "List the changes of an environment's own variables, newest first",
  access: read,
  params: inEnvironment,
  query: z.object({
    'page[size]': z.coerce.number().int().min(1).max(100).default(25),
    /** A revision: the changes before it. */
    'page[after]': z.coerce.number().pipe(revisionNumber.min(1)).optional(),
  }),
  reply: z.object({ data: z.array(variableRevision), pagination: cursors }),
  errors: [404],
});

export const variableDifference = variableChange.extend({
  /** The old value; missing if the variable did not exist, `<redacted>` if it was secret in either revision. */
  from: z.string().optional(),
  to: z.string().optional(),
});
export type VariableDifference = z.infer<typeof variableDifference>;

export const compareVariableRevisions = operation({
  id: 'compareVariableRevisions',
  method: 'GET',
  path: '/api/v1/projects/:projectRef/envvar-revisions/:env/diff',
  tag: 'environment variables',
  summary: "Compare two revisions of an environment's own variables",
  access: read,
  params: inEnvironment,
  query: z.object({
    from: revisionInQuery,
    /** Default: now. */
    to: revisionInQuery.optional(),
  }),
  reply: z.object({ from: z.number().int(), to: z.number().int(), changes: z.array(variableDifference) }),
  errors: [404],
});

export const rollBackVariables = operation({
  id: 'rollBackVariables',
  method: 'POST',
  path: '/api/v1/projects/:projectRef/envvar-revisions/:env/rollback',
  tag: 'environment variables',
  summary: "Restore an environment's own variables to a revision, as a new revision",
  access: write,
  params: inEnvironment,
  body: z.object({ revision: revisionNumber }),
  reply: z.object({
    success: z.boolean(),
    /** The revision that is now in effect. */
    revision: z.number().int(),
    changes: z.array(variableChange),
  }),
  errors: [404],
});
