/** Serves the dashboard: prebuilt files, and one page for all of its addresses. */
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { failureHeaders } from '../failure-headers.ts';
import { packageFolder } from '../package-folder.ts';

/** The folder of the built files in the package. */
export const builtDashboard = fileURLToPath(new URL('dashboard/', packageFolder));

/** The addresses of the page. All others belong to the API or return 404. */
const pages = ['/', '/login', '/account', '/account/*', '/p/*'];

/** Allows only files of this server, nothing inline, and no framing by other pages. */
const headersFor = (endpoint: string | undefined): Readonly<Record<string, string>> => ({
  'content-security-policy':
    `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'${endpoint === undefined ? '' : ` ${endpoint}`}; font-src 'self'; ` +
    "base-uri 'self'; form-action 'self'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
});

const noFiles =
  'This server has no dashboard: in a clone of the repository, `npm run build` builds it. The API is at /reference.\n';

/** The page with the base path of the server, so that its relative URLs resolve correctly. */
const withBase = (html: string, basePath: string): string =>
  html.replace(/<base href="[^"]*"\s*\/?>/, '').replace('<head>', `<head><base href="${basePath}/">`);

/**
 * The page with the address that decrypts sealed values. `codecEndpoint` ensures that it contains nothing that HTML or a header would
 * interpret.
 */
const withEndpoint = (html: string, endpoint: string | undefined): string =>
  endpoint === undefined
    ? html
    : html.replace('<head>', `<head><meta name="millrace-codec-endpoint" content="${endpoint}">`);

/** Mounts `/assets/*` and the page. If the files were not built, the page reports it. */
export function mountDashboard(app: FastifyInstance, folder: string, endpoint?: string): void {
  const { basePath } = app;
  const pageHeaders = headersFor(endpoint);
  void app.register(async (scope) => {
    // A path that cannot be a file, such as that of a folder.
    scope.setErrorHandler((error: { statusCode?: number }, _request, reply) => {
      if (error.statusCode === undefined || error.statusCode >= 500) throw error;
      reply.callNotFound();
    });
    await scope.register(fastifyStatic, {
      root: join(folder, 'assets'),
      prefix: '/assets/',
      decorateReply: false,
      // File names contain the hash of their content.
      immutable: true,
      maxAge: '365d',
      // The build writes `.br` and `.gz` files next to each.
      preCompressed: true,
      index: false,
      setHeaders: (reply) => void reply.headers(pageHeaders),
    });
    for (const url of pages) {
      scope.get(url, async (request, reply) => {
        reply.headers(pageHeaders).header('cache-control', 'no-cache');
        let html: string;
        try {
          html = withEndpoint(
            withBase(await readFile(join(folder, 'index.html'), 'utf8'), basePath),
            endpoint,
          );
        } catch {
          return reply
            .code(503)
            .headers(failureHeaders('unavailable', noFiles))
            .type('text/plain; charset=utf-8')
            .send(noFiles);
        }
        const etag = `"${hash('sha256', html, 'base64url')}"`;
        reply.header('etag', etag);
        if (request.headers['if-none-match'] === etag) return reply.code(304).send();
        return reply.type('text/html; charset=utf-8').send(html);
      });
    }
  });
}
