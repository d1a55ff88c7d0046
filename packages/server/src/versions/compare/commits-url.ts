import type { Deployment } from '@millrace/contract';

type Git = NonNullable<Deployment['git']>;

/** The path of the commits between two, below the address of a repository. */
const paths: Readonly<Record<string, (before: string, after: string) => string>> = {
  'github.com': (before, after) => `/compare/${before}...${after}`,
  'gitlab.com': (before, after) => `/-/compare/${before}...${after}`,
  'bitbucket.org': (before, after) => `/branches/compare/${after}%0D${before}`,
  'codeberg.org': (before, after) => `/compare/${before}...${after}`,
};

/** `gitlab.example.com` is assumed to run GitLab. */
const hostKinds = [
  ['github.', 'github.com'],
  ['gitlab.', 'gitlab.com'],
] as const;

const isCommit = /^[0-9a-f]{7,64}$/;

/**
 * The page of the commits between two deployments. Null if either commit is unknown, they are equal or from different repositories, or the host
 * is not known to have such a page.
 */
export function commitsUrl(before: Git | undefined, after: Git | undefined): string | null {
  const [from, to] = [before?.commit ?? '', after?.commit ?? ''];
  if (!isCommit.test(from) || !isCommit.test(to) || from === to) return null;
  const remote = after?.remote ?? before?.remote;
  if (remote === undefined || (before?.remote ?? remote) !== remote || !URL.canParse(remote)) return null;
  const { protocol, hostname, pathname } = new URL(remote);
  const kind = hostKinds.find(([prefix]) => hostname.startsWith(prefix))?.[1] ?? hostname;
  const path = Object.hasOwn(paths, kind) ? paths[kind]?.(from, to) : undefined;
  if (protocol !== 'https:' || path === undefined) return null;
  return `https://${hostname}${pathname.replace(/\/+$/, '')}${path}`;
}
