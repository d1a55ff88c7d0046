import type { EnvironmentKind } from '@millrace/contract';

/** The slug of an environment, as in `ctx.environment.slug`: `prod`, `preview-feat-x`. */
export const environmentSlug = (kind: EnvironmentKind, branch: string | null): string =>
  branch === null ? kind : `${kind}-${branch.replaceAll(/[^A-Za-z0-9]+/g, '-').toLowerCase()}`;
