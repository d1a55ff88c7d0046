/** The four kinds of environment, as in keys (`svc_prod_…`), paths and filters. */
export const environmentKinds = ['dev', 'stg', 'prod', 'preview'] as const;
export type EnvironmentKind = (typeof environmentKinds)[number];

/** The `type` field of objects on the wire. */
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

/** Parses an environment name in a path or filter (`staging` is `stg`). Case-sensitive; undefined if unknown. */
export const environmentKind = (name: string): EnvironmentKind | undefined =>
  Object.hasOwn(aliases, name) ? aliases[name] : undefined;
