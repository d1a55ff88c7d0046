import type { ServerOptions } from '@millrace/server';
import { s3Settings, valueOf } from '../s3-settings.ts';

/** The S3-compatible store for the files of deployments (MILLRACE_BUNDLE_STORE). Undefined means the database. */
export function bundleStore(env: Readonly<Record<string, string | undefined>>): ServerOptions['bundleStore'] {
  const text = valueOf(env, 'MILLRACE_BUNDLE_STORE');
  return text === undefined ? undefined : s3Settings(text, env, 'MILLRACE_BUNDLE_STORE');
}
