/** The four kinds of environment, as they stand in keys (`svc_prod_…`), in paths and in filters. */
export const environmentKinds = ['dev', 'stg', 'prod', 'preview'] as const;
export type EnvironmentKind = (typeof environmentKinds)[number];

/** The `type` that objects on the wire carry. */
export const environmentTypes: Readonly<Record<EnvironmentKind, string>> = {
  dev: 'DEVELOPMENT',
  stg: 'STAGING',
  prod: 'PRODUCTION',
  preview: 'PREVIEW',
};

const aliases: Readonly<Record<string, EnvironmentKind>> = {
  dev: 'dev',
  development: 'dev',
  stg: 'stg',
  staging: 'stg',
  prod: 'prod',
  production: 'prod',
  preview: 'preview',
};

/** Reads an environment name as paths and filters spell it (`staging` is `stg`). Case matters; undefined if unknown. */
export const environmentKind = (name: string): EnvironmentKind | undefined =>
  Object.hasOwn(aliases, name) ? aliases[name] : undefined;
