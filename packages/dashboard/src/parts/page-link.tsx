import { createLink, useNavigate, useRouter } from '@tanstack/react-router';
import type { ComponentProps, ReactNode } from 'react';
import { useEnvironmentParams } from '../api/environment.ts';
import { useRowTabIndex } from './button.tsx';

const Anchor = createLink((props: ComponentProps<'a'>) => <a tabIndex={useRowTabIndex()} {...props} />);

/** The path of a page of the environment, in the router's format. */
const pathOf = (params: { readonly project: string; readonly env: string }, to: string): string =>
  `/p/${encodeURIComponent(params.project)}/${encodeURIComponent(params.env)}${to}`;

/** A link to a page does not match the pages below it. */
const activeOptions = { exact: true, includeSearch: false } as const;

interface PageLinkProps extends Omit<ComponentProps<'a'>, 'href' | 'children'> {
  /** Below the environment: `/runs/run_…`, `` `/tasks/${encodeURIComponent(id)}` ``; empty for the overview. */
  readonly to: string;
  /** Query parameters as strings. Those of the current address are dropped. */
  readonly search?: Readonly<Record<string, string | undefined>>;
  readonly children: ReactNode;
}

/**
 * A link to another page of the environment. Pages do not import each other: they refer to addresses.
 *
 * @example
 * <PageLink to="/runs" search={{ q: `task:${id}` }}>Runs of the task</PageLink>
 */
export function PageLink({ to, search, ...rest }: PageLinkProps) {
  const params = useEnvironmentParams();
  return (
    <Anchor
      {...(rest as object)}
      to={pathOf(params, to) as '/'}
      search={(search ?? {}) as never}
      activeOptions={activeOptions}
    />
  );
}

/** The address of a page of the environment, with the base path: for `href`, and for new tabs. */
export function usePageHref(): (to: string) => string {
  const params = useEnvironmentParams();
  const router = useRouter();
  return (to) =>
    router.history.createHref(router.buildLocation({ to: pathOf(params, to) as '/' }).publicHref);
}

/** Navigates to a page of the environment: after a form was submitted, or for a shortcut. */
export function useGoTo(): (to: string, search?: Readonly<Record<string, string | undefined>>) => void {
  const params = useEnvironmentParams();
  const navigate = useNavigate();
  return (to, search = {}) => void navigate({ to: pathOf(params, to) as '/', search: search as never });
}
