import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';

/** The service that the recorded HTTP errors come from. Its answers are shaped like those of the real ones. */
export async function startStub(): Promise<{ url: string; stop: () => void }> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => answer(request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const path = request.url ?? '/';
  const json = (status: number, body: unknown) => {
    response.writeHead(status, { 'content-type': 'application/json', 'request-id': `req_${randomUUID().slice(0, 14)}` });
    response.end(JSON.stringify(body));
  };
  const xml = (status: number, code: string, message: string) => {
    response.writeHead(status, { 'content-type': 'application/xml' });
    const id = randomUUID().replaceAll('-', '').slice(0, 16).toUpperCase();
    response.end(
      `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${message}</Message><RequestId>${id}</RequestId></Error>`,
    );
  };
  const id = path.split('/').at(-1) ?? '';
  if (path.startsWith('/slow')) return;
  if (path.startsWith('/html')) {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end(`<html><body>Maintenance ${randomUUID()}</body></html>`);
    return;
  }
  if (path.startsWith('/reset')) {
    request.socket.destroy();
    return;
  }
  if (path.startsWith('/redirect')) {
    response.writeHead(302, { location: path });
    response.end();
    return;
  }
  if (path.startsWith('/status/')) return json(Number(path.split('/')[2]), { error: 'refused', requestId: randomUUID() });
  if (path.startsWith('/v1/payment_intents')) return json(404, missing('payment_intent', id));
  if (path.startsWith('/v1/customers')) return json(404, missing('customer', id));
  if (path.startsWith('/v1/payouts')) {
    const message = 'You have insufficient funds in your Stripe account for this transfer.';
    return json(400, { error: { type: 'invalid_request_error', code: 'balance_insufficient', message } });
  }
  if (path.startsWith('/openai/embeddings')) return json(500, { error: { message: 'The server had an error', type: 'server_error' } });
  if (path.startsWith('/openai')) return openai(request, json);
  if (path.startsWith('/bucket-denied')) return xml(403, 'AccessDenied', 'Access Denied');
  if (path.startsWith('/bucket-gone')) return xml(404, 'NoSuchBucket', 'The specified bucket does not exist');
  if (path.startsWith('/bucket')) return xml(404, 'NoSuchKey', 'The specified key does not exist.');
  return json(404, { error: 'not found' });
}

function missing(what: string, id: string): unknown {
  return { error: { type: 'invalid_request_error', code: 'resource_missing', param: 'id', message: `No such ${what}: '${id}'` } };
}

let calls = 0;
function openai(_request: IncomingMessage, json: (status: number, body: unknown) => void): void {
  calls += 1;
  const used = 1000 + ((calls * 7919) % 29000);
  if (calls % 2 === 1) {
    const message = `Rate limit reached for gpt-4o in organization org-${randomUUID().slice(0, 8)} on tokens per min (TPM): Limit 30000, Used ${used}, Requested 2217. Please try again in ${(used / 4000).toFixed(3)}s.`;
    return json(429, { error: { message, type: 'tokens', param: null, code: 'rate_limit_exceeded' } });
  }
  const message = `The model 'gpt-gone-${used}' does not exist or you do not have access to it.`;
  return json(404, { error: { message, type: 'invalid_request_error', param: null, code: 'model_not_found' } });
}
