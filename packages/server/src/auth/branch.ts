const cutPrefix = /^refs\/(?:heads|remotes|tags|pull|merge|release)\//;

/** The branch in a header, without a git prefix such as `refs/heads/`. Undefined for an empty header or another `refs/…`. */
export function branchName(header: string | undefined): string | undefined {
  if (header === undefined || header === '') return undefined;
  const name = header.replace(cutPrefix, '');
  if (name === header && header.startsWith('refs/')) return undefined;
  return name === '' ? undefined : name;
}
