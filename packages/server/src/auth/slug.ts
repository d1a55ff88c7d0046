import type { EnvironmentKind } from '@millrace/contract';

/** An environment in a word, as runs are told of theirs: `prod`, `preview-feat-x`. */
export const environmentSlug = (kind: EnvironmentKind, branch: string | null): string =>
  branch === null ? kind : `${kind}-${branch.replaceAll(/[^A-Za-z0-9]+/g, '-').toLowerCase()}`;
