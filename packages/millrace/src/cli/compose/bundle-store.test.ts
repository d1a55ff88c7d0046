import { expect, test } from 'vitest';
import { bundleStore } from './bundle-store.ts';

const keys = { AWS_ACCESS_KEY_ID: 'K', AWS_SECRET_ACCESS_KEY: 'S' };
const amazon = { ...keys, AWS_REGION: 'eu-west-1' };

test('without MILLRACE_BUNDLE_STORE, ignores the variables of AWS tools', () => {
  expect(bundleStore({ AWS_S3_FORCE_PATH_STYLE: 'maybe', AWS_ENDPOINT_URL: 'x' })).toBeUndefined();
  expect(bundleStore({ ...amazon, MILLRACE_BUNDLE_STORE: ' ' })).toBeUndefined();
});

test('reads the variables of AWS tools', () => {
  expect(bundleStore({ ...amazon, MILLRACE_BUNDLE_STORE: 's3://bundles' })).toEqual({
    bucket: 'bundles',
    prefix: '',
    endpoint: undefined,
    region: 'eu-west-1',
    pathStyle: false,
    accessKeyId: 'K',
    secretAccessKey: 'S',
    sessionToken: undefined,
  });
  expect(
    bundleStore({
      ...keys,
      AWS_SESSION_TOKEN: 'T',
      AWS_ENDPOINT_URL: 'http://other:1',
      AWS_ENDPOINT_URL_S3: 'https://minio.example.com:9000/',
      MILLRACE_BUNDLE_STORE: 's3://my.bucket/a/b-c/',
    }),
  ).toMatchObject({
    bucket: 'my.bucket',
    prefix: 'a/b-c',
    endpoint: 'https://minio.example.com:9000',
    region: 'us-east-1',
    pathStyle: true,
    sessionToken: 'T',
  });
  expect(
    bundleStore({
      ...keys,
      AWS_DEFAULT_REGION: 'auto',
      AWS_ENDPOINT_URL: 'https://x.example.com',
      AWS_S3_FORCE_PATH_STYLE: 'false',
      MILLRACE_BUNDLE_STORE: 's3://bundles/',
    }),
  ).toMatchObject({ region: 'auto', prefix: '', pathStyle: false });
});

const address = 'MILLRACE_BUNDLE_STORE must be an address such as s3://bucket or s3://bucket/folder.';
const store = { MILLRACE_BUNDLE_STORE: 's3://bundles' };
test.each([
  [{ ...amazon, MILLRACE_BUNDLE_STORE: 'bundles' }, address],
  [{ ...amazon, MILLRACE_BUNDLE_STORE: 'https://bundles.s3.amazonaws.com' }, address],
  [{ ...amazon, MILLRACE_BUNDLE_STORE: 's3://Bundles' }, address],
  [{ ...amazon, MILLRACE_BUNDLE_STORE: 's3://bundles/../other' }, address],
  [{ ...amazon, MILLRACE_BUNDLE_STORE: 's3://bundles//a' }, address],
  [{ ...amazon, MILLRACE_BUNDLE_STORE: 's3://bundles/a b' }, address],
  [{ ...store, ...keys }, 'AWS_REGION is required for MILLRACE_BUNDLE_STORE.'],
  [
    { ...store, AWS_REGION: 'x', AWS_SECRET_ACCESS_KEY: 'S' },
    'AWS_ACCESS_KEY_ID is required for MILLRACE_BUNDLE_STORE.',
  ],
  [
    { ...store, AWS_REGION: 'x', AWS_ACCESS_KEY_ID: 'K' },
    'AWS_SECRET_ACCESS_KEY is required for MILLRACE_BUNDLE_STORE.',
  ],
  [
    { ...store, ...amazon, AWS_ENDPOINT_URL: 'minio:9000' },
    'AWS_ENDPOINT_URL must be an address such as https://minio.example.com:9000.',
  ],
  [
    { ...store, ...amazon, AWS_ENDPOINT_URL_S3: 'https://user:pass@minio' },
    'AWS_ENDPOINT_URL_S3 must be an address such as https://minio.example.com:9000.',
  ],
  [{ ...store, ...amazon, AWS_S3_FORCE_PATH_STYLE: 'yes' }, 'AWS_S3_FORCE_PATH_STYLE must be true or false.'],
])('rejects %j', (env, message) => {
  expect(() => bundleStore(env)).toThrow(message);
});
