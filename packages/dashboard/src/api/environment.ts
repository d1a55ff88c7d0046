import { useParams } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Environment } from './client.ts';

/** `preview~my-branch` in an address is a branch of an environment. */
export function environmentOf(project: string, slug: string): Environment {
  const tilde = slug.indexOf('~');
  return tilde === -1
    ? { project, kind: slug }
    : { project, kind: slug.slice(0, tilde), branch: slug.slice(tilde + 1) };
}

export const environmentSlug = ({ kind, branch }: Environment): string =>
  branch === undefined ? kind : `${kind}~${branch}`;

/** The environment in the page's address. */
export function useEnvironment(): Environment {
  const { project, env } = useParams({ strict: false }) as { project?: string; env?: string };
  return useMemo(() => environmentOf(project ?? '', env ?? ''), [project, env]);
}

/** The params of links to other pages of the environment: `<Link to="/p/$project/$env/runs" params={useEnvironmentParams()}>`. */
export function useEnvironmentParams(): { readonly project: string; readonly env: string } {
  const environment = useEnvironment();
  return useMemo(() => ({ project: environment.project, env: environmentSlug(environment) }), [environment]);
}

/** The environment in the address as path parameters of operations. The branch is sent in a header. */
export function useEnvironmentPath(): { readonly projectRef: string; readonly env: string } {
  const { project, kind } = useEnvironment();
  return useMemo(() => ({ projectRef: project, env: kind }), [project, kind]);
}
