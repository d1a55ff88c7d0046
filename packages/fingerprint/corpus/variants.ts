/** One way of installing, building and running an app: what may change while a bug stays the same bug. */
export interface Variant {
  name: string;
  node: 'old' | 'new';
  libraries: 'flat-latest' | 'pnpm-older';
  /** The folder that the recorded stacks show instead of the temporary one. */
  root: string;
  seeds: number[];
  /** esbuild arguments; none means that the sources run as they are. */
  build?: string[];
  entry: string;
  sourceMaps?: boolean;
}

const requireBanner =
  "--banner:js=import{createRequire as createRequireHere}from'node:module';const require=createRequireHere(import.meta.url);";
// Database drivers that a library requires only when they are configured.
const optional = ['sqlite3', 'better-sqlite3', 'tedious', 'mysql', 'mariadb', 'mariadb/*', 'oracledb', 'pg-query-stream', 'pg-native', 'aws-crt'];
const bundle = ['--bundle', '--platform=node'];
const whole = optional.map((name) => `--external:${name}`);
const esm = ['--format=esm', requireBanner, ...whole];
const external = ['--format=esm', '--packages=external'];

export const variants: Variant[] = [
  { name: 'plain-24', node: 'new', libraries: 'flat-latest', root: '/app', seeds: [1, 2, 3], entry: 'app.js' },
  { name: 'plain-20-pnpm', node: 'old', libraries: 'pnpm-older', root: '/srv/deploy-4f2a91c/current', seeds: [4], entry: 'app.js' },
  { name: 'plain-20', node: 'old', libraries: 'flat-latest', root: '/home/ci/builds/20261103.4', seeds: [5], entry: 'app.js' },
  { name: 'plain-24-pnpm', node: 'new', libraries: 'pnpm-older', root: '/usr/src/app', seeds: [6], entry: 'app.js' },
  { name: 'external-24', node: 'new', libraries: 'flat-latest', root: '/app', seeds: [7], entry: 'index-8F3A2B1C.mjs', build: [...bundle, ...external] },
  { name: 'external-maps-20', node: 'old', libraries: 'pnpm-older', root: '/opt/worker', seeds: [8], entry: 'worker.mjs', sourceMaps: true, build: [...bundle, ...external, '--sourcemap'] },
  { name: 'whole-maps-24', node: 'new', libraries: 'flat-latest', root: '/app', seeds: [9], entry: 'worker.mjs', sourceMaps: true, build: [...bundle, ...esm, '--sourcemap'] },
  { name: 'whole-20', node: 'old', libraries: 'flat-latest', root: '/srv/app/releases/20260911', seeds: [10], entry: 'main.cjs', build: [...bundle, ...whole, '--format=cjs'] },
  { name: 'minified-maps-20', node: 'old', libraries: 'flat-latest', root: '/app', seeds: [11], entry: 'main.mjs', sourceMaps: true, build: [...bundle, ...esm, '--sourcemap', '--minify'] },
  { name: 'minified-names-24', node: 'new', libraries: 'flat-latest', root: '/var/task', seeds: [12], entry: 'main.mjs', build: [...bundle, ...esm, '--minify', '--keep-names'] },
  { name: 'minified-24', node: 'new', libraries: 'flat-latest', root: '/var/task', seeds: [13], entry: 'main.mjs', build: [...bundle, ...external, '--minify'] },
  { name: 'lowered-20', node: 'old', libraries: 'flat-latest', root: '/app', seeds: [14], entry: 'chunk-KX5HJQ2M.mjs', build: [...bundle, ...external, '--target=es2016', '--supported:dynamic-import=true'] },
];

/** npm package specs of each split; the older ones go through pnpm. `esbuild` builds the bundles. */
export const libraries: Record<string, { latest: string[]; older: string[] }> = {
  train: {
    latest: ['pg@8', 'axios@1', 'undici@7', 'zod@3', 'zod4@npm:zod@4', 'stripe@18', 'openai@5'],
    older: ['pg@8.7.3', 'axios@1.4.0', 'undici@5.28.4', 'zod@3.22.4', 'zod4@npm:zod@4.0.5', 'stripe@14.25.0', 'openai@4.60.0'],
  },
  heldout: {
    latest: ['mysql2@3', 'mongodb@6', 'ioredis@5', '@aws-sdk/client-s3@3', 'ajv@8', 'jsonwebtoken@9', 'got@14', 'node-fetch@3', 'postgres@3'],
    older: ['mysql2@3.6.0', 'mongodb@5.9.2', 'ioredis@5.3.2', '@aws-sdk/client-s3@3.540.0', 'ajv@8.12.0', 'jsonwebtoken@9.0.0', 'got@13', 'node-fetch@3.3.0', 'postgres@3.3.5'],
  },
  final: {
    latest: ['@anthropic-ai/sdk@0.65', 'bcryptjs@3', 'csv-parse@6', 'execa@9', 'fast-xml-parser@5', 'joi@18', 'knex@3', 'pg@8', 'mysql2@3', 'luxon@3', 'nodemailer@7', 'redis@5', 'superagent@10', 'ws@8', 'yup@1'],
    older: ['@anthropic-ai/sdk@0.30.1', 'bcryptjs@2.4.3', 'csv-parse@5.5.0', 'execa@9.0.0', 'fast-xml-parser@4.3.0', 'joi@17.11.0', 'knex@3.0.1', 'pg@8.11.3', 'luxon@3.3.0', 'nodemailer@6.9.0', 'redis@4.6.10', 'superagent@8.1.2', 'ws@8.13.0', 'yup@1.2.0'],
  },
};
