import type { S3Settings } from '@millrace/server';
import { CommandFailed, exitCodes } from './exit-codes.ts';

type Env = Readonly<Record<string, string | undefined>>;

const address = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([A-Za-z0-9._/-]*))?$/;

/**
 * An S3-compatible store at an address such as `s3://bucket/prefix`, with the variables that AWS tools read.
 * @param name the variable or option that contains the address
 */
export function s3Settings(text: string, env: Env, name: string): S3Settings {
  const [, bucket, path = ''] = address.exec(text) ?? [];
  const prefix = path.replace(/\/+$/, '');
  const isPath = prefix === '' || !prefix.split('/').some((part) => ['', '.', '..'].includes(part));
  if (bucket === undefined || !isPath)
    throw wrong(name, 'must be an address such as s3://bucket or s3://bucket/folder');
  const required = (variable: string): string => {
    const value = valueOf(env, variable);
    if (value === undefined) throw wrong(variable, `is required for ${name}`);
    return value;
  };
  const endpoint = endpointIn(env);
  const region = valueOf(env, 'AWS_REGION') ?? valueOf(env, 'AWS_DEFAULT_REGION');
  return {
    bucket,
    prefix,
    endpoint,
    region: region ?? (endpoint === undefined ? required('AWS_REGION') : 'us-east-1'),
    pathStyle: isPathStyle(env) ?? endpoint !== undefined,
    accessKeyId: required('AWS_ACCESS_KEY_ID'),
    secretAccessKey: required('AWS_SECRET_ACCESS_KEY'),
    sessionToken: valueOf(env, 'AWS_SESSION_TOKEN'),
  };
}

function endpointIn(env: Env): string | undefined {
  const name = valueOf(env, 'AWS_ENDPOINT_URL_S3') === undefined ? 'AWS_ENDPOINT_URL' : 'AWS_ENDPOINT_URL_S3';
  const text = valueOf(env, name);
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.search !== '')
    throw wrong(name, 'must be an address such as https://minio.example.com:9000');
  return text.replace(/\/+$/, '');
}

function isPathStyle(env: Env): boolean | undefined {
  const text = valueOf(env, 'AWS_S3_FORCE_PATH_STYLE');
  if (text === undefined) return undefined;
  if (text === 'true' || text === 'false') return text === 'true';
  throw wrong('AWS_S3_FORCE_PATH_STYLE', 'must be true or false');
}

export function valueOf(env: Env, name: string): string | undefined {
  const text = env[name]?.trim();
  return text === '' ? undefined : text;
}

const wrong = (name: string, rule: string): CommandFailed =>
  new CommandFailed(exitCodes.usage, `${name} ${rule}.`);
