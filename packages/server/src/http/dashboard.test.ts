import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { createSampleApp } from './testing/sample-app.ts';

const script = 'console.log("the dashboard");'.repeat(100);
const page =
  '<!doctype html><html><head><base href="/"><script src="assets/app-1a2b.js"></script></head></html>';
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; " +
  "base-uri 'self'; form-action 'self'; frame-ancestors 'none'";

async function built(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-dashboard-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, 'assets'));
  const file = join(folder, 'assets', 'app-1a2b.js');
  await writeFile(file, script);
  await writeFile(`${file}.br`, brotliCompressSync(script));
  await writeFile(`${file}.gz`, gzipSync(script));
  await writeFile(join(folder, 'index.html'), page);
  await writeFile(join(folder, 'secret.txt'), 'next to the assets');
  return folder;
}

const serving = (dashboard: string, basePath = '') => {
  const nobody = () => {
    throw new Error('files are served without authentication');
  };
  const { app, lines } = createSampleApp(nobody, { dashboard, basePath });
  onTestFinished(() => app.close());
  const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers });
  return { app, lines, get };
};

test('the page is served at its addresses with a strict policy, and caches must revalidate it', async () => {
  const { get } = serving(await built());
  for (const url of [
    '/',
    '/login',
    '/account',
    '/account/browsers',
    '/p/proj_a/prod/runs?q=status:failed',
    '/p/proj_a/dev~a/runs/run_1',
  ]) {
    const reply = await get(url);
    expect([url, reply.statusCode, reply.headers['content-type']]).toEqual([
      url,
      200,
      'text/html; charset=utf-8',
    ]);
    expect(reply.body).toContain('<head><base href="/"><script');
    expect(reply.headers).toMatchObject({
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cache-control': 'no-cache',
      etag: expect.stringMatching(/^"[\w-]+"$/) as string,
    });
  }
  const { headers } = await get('/');
  const again = await get('/', { 'if-none-match': String(headers.etag) });
  expect([again.statusCode, again.body]).toEqual([304, '']);
});

test('assets are compressed for the browser, and may be cached forever', async () => {
  const { get } = serving(await built());
  const url = '/assets/app-1a2b.js';
  const plain = await get(url);
  expect([plain.statusCode, plain.body, plain.headers['content-encoding']]).toEqual([200, script, undefined]);
  expect(plain.headers).toMatchObject({
    'cache-control': 'public, max-age=31536000, immutable',
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'content-type': expect.stringMatching(/javascript/) as string,
  });
  const sizes = await Promise.all(
    ['br, gzip', 'gzip'].map(async (encodings) => {
      const { headers, rawPayload } = await get(url, { 'accept-encoding': encodings });
      return [headers['content-encoding'], rawPayload.length, headers.vary];
    }),
  );
  expect(sizes).toEqual([
    ['br', brotliCompressSync(script).length, expect.stringMatching(/accept-encoding/i)],
    ['gzip', gzipSync(script).length, expect.stringMatching(/accept-encoding/i)],
  ]);
});

test('nothing else is served from the folder, and the API keeps its paths', async () => {
  const { get, lines } = serving(await built());
  for (const url of [
    '/assets/none.js',
    '/assets/',
    '/assets',
    '/assets/../secret.txt',
    '/assets/..%2fsecret.txt',
    '/assets/%2e%2e/secret.txt',
    '/assets/..%5csecret.txt',
    '/assets//etc/passwd',
    '/secret.txt',
    '/index.html',
    '/errors',
    '/api/v1/none',
    '//evil.example/p/x',
  ]) {
    const { statusCode, body, headers } = await get(url);
    expect([url, statusCode]).toEqual([url, expect.toBeOneOf([400, 403, 404])]);
    expect(body).not.toContain('next to the assets');
    expect(headers.location).toBeUndefined();
  }
  expect((await get('/api/v1/open')).json()).toEqual({ open: true });
  expect((await get('/healthz')).statusCode).toBe(200);
  expect((await get('/assets/%00')).statusCode).toBeLessThan(500);
  expect(lines.filter((line) => line.includes('request.failed'))).toEqual([]);
});

test('everything is served under a base path, whether or not the proxy removes it', async () => {
  const { get } = serving(await built(), '/tools/millrace');
  for (const url of ['/tools/millrace', '/tools/millrace/', '/tools/millrace/login', '/', '/login']) {
    const { statusCode, body } = await get(url);
    expect([url, statusCode, body]).toEqual([
      url,
      200,
      expect.stringContaining('<head><base href="/tools/millrace/"><script'),
    ]);
  }
  expect((await get('/tools/millrace/assets/app-1a2b.js')).body).toBe(script);
  expect((await get('/tools/millrace/api/v1/open')).json()).toEqual({ open: true });
  expect((await get('/tools/millrace?x=1')).statusCode).toBe(200);
  expect((await get('/tools/millraces')).statusCode).toBe(404);
});

test('a server without built files reports this in one sentence', async () => {
  const { get, lines } = serving(join(tmpdir(), 'millrace-none'));
  const { statusCode, headers, body } = await get('/');
  expect([statusCode, headers['retry-after'], body]).toEqual([
    503,
    '2',
    expect.stringMatching(/^This server has no dashboard: .*npm run build.*\n$/),
  ]);
  expect((await get('/assets/app.js')).statusCode).toBe(404);
  expect(lines).toEqual([]);
});
