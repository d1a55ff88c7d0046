import { z } from 'zod';
import { roles } from '../access.ts';
import { environmentKinds } from '../environment.ts';
import { operation } from '../operation.ts';
import { date, nameOf } from './shapes.ts';

const name = nameOf(128);

export const project = z.object({
  id: z.string(),
  /** `proj_…`: the name in paths. Same as `id`. */
  externalRef: z.string(),
  name: z.string(),
  createdAt: date,
  organization: z.object({ id: z.string(), name: z.string() }),
  /** The caller's role in that organization. */
  role: z.enum(roles),
});
export type Project = z.infer<typeof project>;

const inProject = z.object({ projectRef: z.string().min(1).max(128) });

export const listProjects = operation({
  id: 'listProjects',
  method: 'GET',
  path: '/api/v1/projects',
  tag: 'projects',
  summary: "List the projects of all of the user's organizations",
  access: { personalAccessToken: true },
  reply: z.array(project),
});

export const listOrganizationProjects = operation({
  id: 'listOrganizationProjects',
  method: 'GET',
  path: '/api/v1/orgs/:organization/projects',
  tag: 'projects',
  summary: "List an organization's projects",
  access: { personalAccessToken: true, role: 'viewer' },
  params: z.object({ organization: z.string().min(1).max(128) }),
  reply: z.array(project),
  errors: [404],
});

export const createProject = operation({
  id: 'createProject',
  method: 'POST',
  path: '/api/v1/orgs/:organization/projects',
  tag: 'projects',
  summary: 'Create a project with its four environments, each with a secret key',
  access: { personalAccessToken: true, role: 'admin' },
  params: z.object({ organization: z.string().min(1).max(128) }),
  body: z.object({ name }),
  reply: project,
  errors: [404],
});

export const retrieveProject = operation({
  id: 'retrieveProject',
  method: 'GET',
  path: '/api/v1/projects/:projectRef',
  tag: 'projects',
  summary: 'Retrieve a project',
  access: { personalAccessToken: true, role: 'viewer' },
  params: inProject,
  reply: project,
  errors: [404],
});

export const updateProject = operation({
  id: 'updateProject',
  method: 'PATCH',
  path: '/api/v1/projects/:projectRef',
  tag: 'projects',
  summary: 'Rename a project',
  access: { personalAccessToken: true, role: 'admin' },
  params: inProject,
  body: z.object({ name }),
  reply: project,
  errors: [404],
});

export const deleteProject = operation({
  id: 'deleteProject',
  method: 'DELETE',
  path: '/api/v1/projects/:projectRef',
  tag: 'projects',
  summary:
    'Delete a project permanently with all of its data; access ends immediately. The last project cannot be deleted',
  access: { personalAccessToken: true, role: 'owner' },
  params: inProject,
  query: z.object({
    /** The project's ref again, as confirmation, because deletion cannot be undone. */
    confirm: z.string().max(128),
  }),
  reply: z.object({ id: z.string() }),
  errors: [404, 422],
});

const environment = z.object({
  id: z.string(),
  /** `dev`, `stg`, `prod` or `preview`; for a branch `preview-` or `dev-` and its name. */
  slug: z.string(),
  type: z.string(),
  isBranchableEnvironment: z.boolean(),
  branchName: z.string().nullable(),
  paused: z.boolean(),
});

export const listEnvironments = operation({
  id: 'listEnvironments',
  method: 'GET',
  path: '/api/v1/projects/:projectRef/environments',
  tag: 'projects',
  summary: "List a project's environments and their live branches; dev is the caller's own",
  access: { personalAccessToken: true, role: 'viewer' },
  params: inProject,
  reply: z.array(environment),
  errors: [404],
});

export const retrieveEnvironment = operation({
  id: 'retrieveEnvironment',
  method: 'GET',
  path: '/api/v1/projects/:projectRef/:env',
  tag: 'projects',
  summary:
    'Retrieve an environment with its longest-lived unrestricted key, for tools that act in it. Audited',
  access: { personalAccessToken: true, role: 'member' },
  params: z.object({ projectRef: z.string().min(1).max(128), env: z.string().min(1).max(32) }),
  reply: z.object({
    id: z.string(),
    name: z.enum(environmentKinds),
    projectRef: z.string(),
    /** For admins; for members only in dev. Also omitted when there is no such key, and for a browser session. */
    apiKey: z.string().optional(),
  }),
  errors: [404],
});

export const inEnvironment = z.object({
  projectRef: z.string().min(1).max(128),
  env: z.string().min(1).max(32),
});

export const deleteEnvironment = operation({
  id: 'deleteEnvironment',
  method: 'DELETE',
  path: '/api/v1/projects/:projectRef/:env',
  tag: 'projects',
  summary:
    'Delete an environment permanently with its branches, keys and data; an empty one replaces it. Not for prod',
  access: { personalAccessToken: true, role: 'admin', devRole: 'member' },
  params: inEnvironment,
  query: z.object({
    /** `dev`, `stg` or `preview` again, as confirmation, because deletion cannot be undone. */
    confirm: z.string().max(32),
  }),
  reply: z.object({
    /** The id of its replacement. */
    id: z.string(),
    deleted: z.string(),
  }),
  errors: [404, 422],
});
