import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import Ajv from 'ajv';
import got from 'got';
import jwt from 'jsonwebtoken';
import nodeFetch from 'node-fetch';

const s3For = (http) => new S3Client({ endpoint: http, region: 'eu-west-1', forcePathStyle: true, maxAttempts: 1, credentials: { accessKeyId: 'a', secretAccessKey: 'b' } });

async function downloadLabel(http, bucket, key) {
  return await s3For(http).send(new GetObjectCommand({ Bucket: bucket, Key: key }));
}

async function listLabels(http, bucket) {
  return await s3For(http).send(new ListObjectsV2Command({ Bucket: bucket }));
}

async function uploadLabel(http, bucket, key) {
  return await s3For(http).send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: 'x' }));
}

async function quoteFreight(url) {
  return await got(url, { retry: { limit: 0 } }).json();
}

async function bookFreight(url) {
  return await got.post(url, { retry: { limit: 0 }, json: { a: 1 } }).json();
}

async function slowFreight(url, ms) {
  return await got(url, { retry: { limit: 0 }, timeout: { request: ms } });
}

async function legacyTrack(url) {
  const reply = await nodeFetch(url);
  return await reply.json();
}

async function legacyRates(url) {
  const reply = await nodeFetch(url);
  if (!reply.ok) throw new Error(`Rates: HTTP ${reply.status} ${reply.statusText} for ${url}`);
  return reply;
}

function openToken(token, secret = 'hush') {
  return jwt.verify(token, secret);
}

function issueToken(claims) {
  return jwt.sign(claims, 'hush', { expiresIn: claims.ttl });
}

const ajv = new Ajv({ allErrors: true });
const validManifest = ajv.compile({ type: 'object', required: ['vessel', 'tonnage'], properties: { tonnage: { type: 'number', maximum: 100 } } });

function checkManifest(manifest) {
  if (!validManifest(manifest)) throw new TypeError(`Manifest ${manifest.id} is invalid: ${ajv.errorsText(validManifest.errors)}`);
}

function compileSchema(schema) {
  return ajv.compile(schema);
}

async function postWebhook(url, body) {
  const reply = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  if (reply.status >= 400) {
    const error = new Error(`Webhook ${body.id} was refused with ${reply.status}`);
    error.status = reply.status;
    throw error;
  }
}

async function pingCarrier(host) {
  await fetch(`http://${host}:39472/ping`);
}

async function pingPort(host) {
  await fetch(`http://${host}:39472/port`);
}

async function abortable(url, ms) {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), ms);
  await fetch(url, { signal: controller.signal });
}

export const tasks = {
  labels: {
    id: 'labels',
    run: async ({ verb, bucket, key }, { http }) => {
      if (verb === 'get') await downloadLabel(http, bucket, key);
      if (verb === 'list') await listLabels(http, bucket);
      if (verb === 'put') await uploadLabel(http, bucket, key);
    },
  },
  freight: {
    id: 'freight',
    run: async ({ verb, path, ms, host }, { http }) => {
      const url = host ? `http://${host}:39473${path}` : `${http}${path}`;
      if (verb === 'quote') await quoteFreight(url);
      if (verb === 'book') await bookFreight(url);
      if (verb === 'slow') await slowFreight(url, ms);
    },
  },
  legacy: {
    id: 'legacy-tracking',
    run: async ({ verb, path, host }, { http }) => {
      const url = host ? `http://${host}:39473${path}` : `${http}${path}`;
      if (verb === 'track') await legacyTrack(url);
      if (verb === 'rates') await legacyRates(url);
    },
  },
  tokens: { id: 'tokens', run: async ({ token, claims }) => { if (claims) issueToken(claims); else openToken(token); } },
  manifest: { id: 'manifest', run: async ({ manifest }) => { checkManifest(manifest); } },
  schema: { id: 'manifest', run: async ({ schema }) => { compileSchema(schema); } },
  webhook: { id: 'webhook', run: async ({ status, body }, { http }) => { await postWebhook(`${http}/status/${status}/hook/${body.id}`, body); } },
  carrier: { id: 'ping-carrier', run: async ({ host }) => { await pingCarrier(host); } },
  port: { id: 'ping-port', run: async ({ host }) => { await pingPort(host); } },
  abort: { id: 'abortable', run: async ({ ms }, { http }) => { await abortable(`${http}/slow`, ms); } },
};

const loop = (d) => `127.${d.int(0, 255)}.${d.int(0, 255)}.${d.int(1, 250)}`;
const signed = (claims, options) => jwt.sign(claims, 'hush', options);

export const bugs = [
  { label: 's3 no key', task: tasks.labels, payload: (d) => ({ verb: 'get', bucket: 'bucket', key: `labels/${d.uuid()}.pdf` }) },
  { label: 's3 no bucket', task: tasks.labels, payload: (d) => ({ verb: 'list', bucket: 'bucket-gone', key: d.uuid() }) },
  { label: 's3 get denied', task: tasks.labels, payload: (d) => ({ verb: 'get', bucket: 'bucket-denied', key: d.uuid() }) },
  { label: 's3 put denied', task: tasks.labels, payload: (d) => ({ verb: 'put', bucket: 'bucket-denied', key: d.uuid() }) },
  { label: 'got quote 404', task: tasks.freight, payload: (d) => ({ verb: 'quote', path: `/status/404/quote/${d.id('q')}` }) },
  { label: 'got quote 500', task: tasks.freight, payload: (d) => ({ verb: 'quote', path: `/status/500/quote/${d.id('q')}` }) },
  { label: 'got book 404', task: tasks.freight, payload: (d) => ({ verb: 'book', path: `/status/404/book/${d.id('b')}` }) },
  { label: 'got html', task: tasks.freight, payload: () => ({ verb: 'quote', path: '/html' }) },
  { label: 'got timeout', task: tasks.freight, payload: (d) => ({ verb: 'slow', path: '/slow', ms: d.int(20, 90) }) },
  { label: 'got refused', task: tasks.freight, payload: (d) => ({ verb: 'quote', path: '/x', host: loop(d) }) },
  { label: 'node-fetch html', task: tasks.legacy, payload: () => ({ verb: 'track', path: '/html' }) },
  { label: 'node-fetch refused', task: tasks.legacy, payload: (d) => ({ verb: 'track', path: `/t/${d.id('trk')}`, host: loop(d) }) },
  { label: 'node-fetch rates 502', task: tasks.legacy, payload: (d) => ({ verb: 'rates', path: `/status/502/rates/${d.id('r')}` }) },
  { label: 'node-fetch rates 401', task: tasks.legacy, payload: (d) => ({ verb: 'rates', path: `/status/401/rates/${d.id('r')}` }) },
  { label: 'jwt malformed', task: tasks.tokens, payload: (d) => ({ token: d.alnum(20) }) },
  { label: 'jwt expired', task: tasks.tokens, payload: (d) => ({ token: signed({ sub: d.uuid(), exp: d.int(1000000, 9999999) }) }) },
  { label: 'jwt bad signature', task: tasks.tokens, payload: (d) => ({ token: jwt.sign({ sub: d.uuid() }, d.alnum(10)) }) },
  { label: 'jwt bad expiry', task: tasks.tokens, payload: (d) => ({ claims: { ttl: d.word() } }) },
  { label: 'ajv no vessel', task: tasks.manifest, payload: (d) => ({ manifest: { id: d.id('man'), tonnage: d.int(1, 90) } }) },
  { label: 'ajv tonnage', task: tasks.manifest, payload: (d) => ({ manifest: { id: d.id('man'), vessel: d.word(), tonnage: d.int(101, 900) } }) },
  { label: 'ajv both missing', task: tasks.manifest, payload: (d) => ({ manifest: { id: d.id('man') } }) },
  { label: 'ajv bad schema', task: tasks.schema, payload: () => ({ schema: { type: 'objekt' } }) },
  { label: 'webhook 410', task: tasks.webhook, payload: (d) => ({ status: 410, body: { id: d.id('evt') } }) },
  { label: 'webhook 500', task: tasks.webhook, payload: (d) => ({ status: 500, body: { id: d.id('evt') } }) },
  { label: 'carrier refused', task: tasks.carrier, inspected: true, payload: (d) => ({ host: loop(d) }) },
  { label: 'carrier not found', task: tasks.carrier, inspected: true, payload: (d) => ({ host: `${d.word()}.${d.word()}.invalid` }) },
  { label: 'port refused', task: tasks.port, payload: (d) => ({ host: loop(d) }) },
  { label: 'aborted', task: tasks.abort, payload: (d) => ({ ms: d.int(10, 40) }) },
];
