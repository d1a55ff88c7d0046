import { isAtLeast, type Operations, type OperationsOf } from '@millrace/contract';
import type { MasterKey } from '../auth/seal.ts';
import { wholeTarget, type EnvironmentPath } from '../auth/target.ts';
import { isUser, type Principal } from '../auth/principal.ts';
import type { Sql } from '../db/connect.ts';
import { forbidden, notFound } from '../problem.ts';
import type { HandlersOf, Request } from '../request.ts';
import { archiveBranch, type ArchiveBranchDependencies } from './archive-branch.ts';
import { createBranch, listBranches, type CreateBranchDependencies } from './branches.ts';
import { createKey } from './create-key.ts';
import { readOverlap } from './expiry.ts';
import {
  acceptInvitation,
  createInvitation,
  joinByInvitation,
  listInvitations,
  revokeInvitation,
} from './invitations.ts';
import { keyColumns, keyOf, type KeyRow } from './key-row.ts';
import {
  changeRole,
  createOrganization,
  listMembers,
  listOrganizations,
  removeMember,
  renameOrganization,
} from './organizations.ts';
import { deleteEnvironment, deleteProject } from './delete.ts';
import type { TenancyLimits } from './limits.ts';
import { asUser, userOf } from './principal.ts';
import {
  createProject,
  listEnvironments,
  listProjects,
  renameProject,
  retrieveProject,
  revealKey,
} from './projects.ts';
import { revokeKey } from './revoke-key.ts';
import { rotateKey } from './rotate-key.ts';
import { rotateSigningKey } from './rotate-signing-key.ts';
import { approveLogin, requestLogin, describeLogin, exchangeLogin, type LoginDependencies } from './login.ts';
import { createToken, listTokens, revokeToken } from './tokens.ts';

export interface TenancyDependencies {
  readonly sql: Sql;
  readonly masterKey: MasterKey;
  readonly tenancyLimits: TenancyLimits;
  /** Milliseconds since 1970, by the database's clock. */
  readonly now: () => number;
  /** Notifies this process that a credential or an environment has ended, before the response is sent. Returns its argument. */
  readonly ended: <T>(answer: T) => T;
}

/** The environment in a user's path, ignoring branch headers. */
const whole = (sql: Sql, request: { readonly params: EnvironmentPath; readonly principal: Principal }) =>
  wholeTarget(sql, userOf(request), request.params);

/** Secret keys, signing keys and personal access tokens. */
export const keyHandlers = ({
  sql,
  masterKey,
  now,
  ended,
}: TenancyDependencies): HandlersOf<OperationsOf<'keys'>> => ({
  async listKeys(request) {
    const { id } = await whole(sql, request);
    const rows = await sql<KeyRow[]>`
      select ${keyColumns(sql)} from secret_keys where environment_id = ${id} order by created_at, id`;
    return { data: rows.map(keyOf) };
  },
  createKey: async (request) =>
    createKey(sql, masterKey, await whole(sql, request), request.body, request, now()),
  revokeKey: async (request) =>
    ended(await revokeKey(sql, await whole(sql, request), request.params.keyId, request)),
  async rotateKey(request) {
    const { params, body } = request;
    const overlap = readOverlap(body?.overlap);
    const environment = await whole(sql, request);
    return ended(await rotateKey(sql, masterKey, environment, { id: params.keyId }, overlap, request));
  },
  async regenerateKey(request) {
    const overlap = readOverlap(request.body?.overlap);
    const environment = await whole(sql, request);
    const { id, key } = await rotateKey(sql, masterKey, environment, 'root', overlap, request);
    return ended({ id, apiKey: key });
  },
  async rotateSigningKey(request) {
    const overlap = readOverlap(request.body?.overlap);
    return ended(await rotateSigningKey(sql, masterKey, await whole(sql, request), overlap, request));
  },
  listTokens: (request) => listTokens(sql, userOf(request)),
  createToken: (request) => createToken(sql, userOf(request), request.body, request, now()),
  revokeToken: async (request) =>
    ended(await revokeToken(sql, userOf(request), request.params.tokenId, request)),
});

/** Login of devices. */
export const loginHandlers = (dependencies: LoginDependencies): HandlersOf<OperationsOf<'login'>> => ({
  createAuthorizationCode(request) {
    const { origin, body, baseUrl } = request;
    const forwardedFor = request.header('x-forwarded-for');
    return requestLogin(dependencies, { ...origin, hostName: body?.hostName, forwardedFor }, baseUrl);
  },
  describeAuthorizationCode: (request) => describeLogin(dependencies, userOf(request), request.body.userCode),
  approveAuthorizationCode: (request) => approveLogin(dependencies, asUser(request), request.body),
  exchangeAuthorizationCode: ({ body, origin }) =>
    exchangeLogin(dependencies, body.authorizationCode, origin),
});

export interface ProjectDependencies
  extends TenancyDependencies, CreateBranchDependencies, ArchiveBranchDependencies {
  /** A branch of this environment was created or archived: runners are notified. */
  readonly onBranch: (env: number) => void;
}

/** Projects, their environments and branches. */
export const projectHandlers = (
  dependencies: ProjectDependencies,
): HandlersOf<OperationsOf<'projects' | 'branches'>> => {
  const { sql, masterKey, tenancyLimits, ended, onBranch } = dependencies;
  return {
    listProjects: (request) => listProjects(sql, userOf(request)),
    listOrganizationProjects: (request) => listProjects(sql, userOf(request), request.params),
    createProject: (request) =>
      createProject(
        sql,
        masterKey,
        userOf(request),
        request.params.organization,
        request.body.name,
        tenancyLimits.projects,
        request,
      ),
    retrieveProject: (request) => retrieveProject(sql, userOf(request), request.params.projectRef),
    updateProject: (request) =>
      renameProject(sql, userOf(request), request.params.projectRef, request.body.name, request),
    deleteProject: async (request) =>
      ended(await deleteProject(sql, request.params.projectRef, request.query.confirm, request)),
    listEnvironments: (request) => listEnvironments(sql, userOf(request), request.params.projectRef),
    async retrieveEnvironment(request) {
      const environment = await whole(sql, request);
      const { publicId: id, kind: name, projectRef } = environment;
      const least = name === 'dev' ? 'member' : 'admin';
      // A browser never receives a stored secret.
      const mayReveal =
        request.principal.kind !== 'browser' && request.role !== undefined && isAtLeast(request.role, least);
      return {
        id,
        name,
        projectRef,
        apiKey: mayReveal ? await revealKey(sql, masterKey, environment, request) : undefined,
      };
    },
    deleteEnvironment: async (request) =>
      ended(
        await deleteEnvironment(sql, masterKey, await whole(sql, request), request.query.confirm, request),
      ),
    async listBranches(request) {
      const kinds = branchableBy(request);
      return { branches: await listBranches(sql, request.params.projectRef, kinds, request) };
    },
    async createBranch(request) {
      if (!branchableBy(request).includes(request.body.env)) throw forbidden();
      const created = await createBranch(dependencies, request.params.projectRef, request.body, request);
      const { parent, ...reply } = created;
      onBranch(parent);
      return reply;
    },
    async archiveBranch(request) {
      if (!branchableBy(request).includes(request.body.env)) throw forbidden();
      const done = await archiveBranch(dependencies, request.params.projectRef, request.body, request);
      const { parent, ...reply } = done;
      if (!reply.isArchived) return reply;
      onBranch(parent);
      return ended(reply);
    },
  };
};

/** The environments that may be branched: preview and dev for a user; for a key only its own, which must be preview. */
function branchableBy({
  principal,
  params,
}: Pick<Request<Operations['listBranches']>, 'principal' | 'params'>): readonly ('preview' | 'dev')[] {
  if (isUser(principal)) return ['preview', 'dev'];
  if (principal.environment.projectRef !== params.projectRef)
    throw notFound('Project not found', false, 'project_not_found');
  if (principal.environment.kind !== 'preview') throw forbidden();
  return ['preview'];
}

/** Organizations, their members and invitations. */
export const organizationHandlers = ({
  sql,
  masterKey,
  tenancyLimits,
  ended,
}: TenancyDependencies): HandlersOf<OperationsOf<'organizations'>> => ({
  listOrganizations: (request) => listOrganizations(sql, userOf(request)),
  createOrganization: (request) =>
    createOrganization(sql, userOf(request), request.body.name, tenancyLimits.organizations, request),
  updateOrganization: (request) =>
    renameOrganization(sql, userOf(request), request.params.organization, request.body.name, request),
  listMembers: ({ params }) => listMembers(sql, params.organization),
  // Public tokens created by the user end when the user may no longer act.
  updateMember: async (request) =>
    ended(
      await changeRole(sql, request.params.organization, request.params.userId, request.body.role, request),
    ),
  removeMember: async (request) =>
    ended(await removeMember(sql, request.params.organization, request.params.userId, request)),
  leaveOrganization: async (request) =>
    ended(await removeMember(sql, request.params.organization, userOf(request), request)),
  listInvitations: ({ params }) => listInvitations(sql, params.organization),
  createInvitation: (request) => createInvitation(sql, request.params.organization, request.body, request),
  revokeInvitation: (request) =>
    revokeInvitation(sql, request.params.organization, request.params.invitationId, request),
  acceptInvitation: (request) =>
    acceptInvitation(sql, masterKey, userOf(request), request.body.token, request),
  joinByInvitation: ({ body, origin }) => joinByInvitation(sql, masterKey, body, origin),
});
