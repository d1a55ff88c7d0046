import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { packageFolder } from '../package-folder.ts';

/** Swagger UI, copied here by the build. */
const swaggerUi = fileURLToPath(new URL('reference/', packageFolder));

/** Its addresses are relative, so that they also work under a base path. */
const page = `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="UTF-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Millrace API</title>
    <link rel="stylesheet" href="static/swagger-ui.css">
    <link rel="icon" type="image/png" href="static/favicon-32x32.png">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="static/swagger-ui-bundle.js"></script>
    <script src="static/swagger-initializer.js"></script>
  </body>
</html>
`;

/** The document is large and rarely requested, so the page fetches it. */
const initializer = `SwaggerUIBundle({
  url: '../openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  docExpansion: 'list',
  persistAuthorization: false,
});
`;

/** Swagger UI sets styles by attributes, and draws some images from `data:` addresses. */
const contentSecurityPolicy =
  "default-src 'self'; base-uri 'self'; frame-ancestors 'self'; img-src 'self' data:; object-src 'none'; " +
  "script-src 'self'; script-src-attr 'none'; style-src 'self' 'unsafe-inline'";

/** Serves `/openapi.json` and `/reference`, a page that loads nothing from other hosts. */
export function mountReference(
  app: FastifyInstance,
  document: () => Readonly<Record<string, unknown>>,
): void {
  let text: string | undefined;
  app.get('/openapi.json', (_, reply) => {
    text ??= JSON.stringify(document());
    reply
      .header('x-content-type-options', 'nosniff')
      .header('access-control-allow-origin', '*')
      .header('content-type', 'application/json; charset=utf-8')
      .send(text);
  });
  app.get('/reference', (_, reply) => reply.redirect('./reference/'));
  app.get('/reference/', (_, reply) => {
    reply
      .header('content-security-policy', contentSecurityPolicy)
      .type('text/html; charset=utf-8')
      .send(page);
  });
  app.get('/reference/static/swagger-initializer.js', (_, reply) => {
    reply.type('text/javascript; charset=utf-8').send(initializer);
  });
  void app.register(fastifyStatic, {
    root: swaggerUi,
    prefix: '/reference/static/',
    decorateReply: false,
    index: false,
  });
}
