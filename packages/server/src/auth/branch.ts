const cutPrefix = /^refs\/(?:heads|remotes|tags|pull|merge|release)\//;

/** The branch a header names: one git prefix is cut off; nothing, or another `refs/…`, is no branch. Never trimmed. */
export function branchName(header: string | undefined): string | undefined {
  if (header === undefined || header === '') return undefined;
  const name = header.replace(cutPrefix, '');
  if (name === header && header.startsWith('refs/')) return undefined;
  return name === '' ? undefined : name;
}
