import type { CurrentBrowserSession, EnvironmentKind, Role } from '@millrace/contract';
import { isAtLeast, roles } from '@millrace/contract/plain';
import { queryOptions, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import operationRoles from 'virtual:roles';
import { call } from './client.ts';
import { useEnvironment } from './environment.ts';
import type { OperationName } from './operation-types.ts';

export type Session = CurrentBrowserSession;
export type Project = Session['projects'][number];

/** The logged-in user, and the available organizations, projects and environments. */
export const sessionQuery = queryOptions({
  queryKey: ['retrieveCurrentBrowserSession'],
  queryFn: ({ signal }) => call('retrieveCurrentBrowserSession', {}, { signal }),
  staleTime: 5 * 60_000,
});

/** Only on pages for logged-in users. */
export const useSession = (): Session => useSuspenseQuery(sessionQuery).data;

/** The project in the address; undefined if the user has none with that name. */
export function useProject(): Project | undefined {
  const { project } = useEnvironment();
  return useQuery(sessionQuery).data?.projects.find(({ ref }) => ref === project);
}

/** Display names of the roles. */
export const roleNames: Readonly<Record<Role, string>> = {
  viewer: 'Read-only',
  member: 'Developer',
  admin: 'Admin',
  owner: 'Owner',
};

/** Whether a user with the role may call the operation. The server decides; this only hides buttons for rejected operations. */
export function allows(role: Role | undefined, operation: OperationName, isDev = false): boolean {
  const [usual, inDev] = operationRoles[operation]?.split(' ') ?? [];
  const least = isDev ? (inDev ?? usual) : usual;
  if (least === 'own') return true;
  const found = roles.find((candidate) => candidate === least);
  return role !== undefined && found !== undefined && isAtLeast(role, found);
}

/**
 * Whether the reader has a permission in this project.
 *
 * @example
 * const may = useMay();
 * {may('cancelRun') && <Button …>Cancel the run</Button>}
 */
export function useMay(): (operation: OperationName) => boolean {
  const role = useProject()?.role;
  const isDev = useEnvironment().kind === 'dev';
  return (operation) => allows(role, operation, isDev);
}

/** Display names of the environments. */
export const environmentNames: Readonly<Record<EnvironmentKind, string>> = {
  dev: 'Development',
  stg: 'Staging',
  prod: 'Production',
  preview: 'Preview',
};

const stored = 'millrace.environment';

/** The last visited environment, or the first that exists. */
export function firstEnvironment({
  projects,
}: Session): { readonly project: string; readonly env: string } | undefined {
  const [project, env] = (localStorage.getItem(stored) ?? '').split(' ');
  if (project && env && projects.some(({ ref }) => ref === project)) return { project, env };
  const [first] = projects;
  return first && { project: first.ref, env: first.environments[0]?.name ?? 'dev' };
}

export const rememberEnvironment = (project: string, env: string): void =>
  localStorage.setItem(stored, `${project} ${env}`);
