import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';

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
  void app.register(async (scope) => {
    await scope.register(swagger, {
      mode: 'static',
      // The document is large and rarely requested, so the page fetches it.
      specification: {
        document: { openapi: '3.1.0', info: { title: 'Millrace', version: '2024-04' }, paths: {} },
      },
    });
    await scope.register(swaggerUi, {
      routePrefix: '/reference',
      staticCSP: true,
      uiConfig: { url: '/openapi.json', docExpansion: 'list', persistAuthorization: false },
    });
  });
}
