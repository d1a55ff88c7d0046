import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { ServerCheck } from './input.ts';

export const proxyWebsocket: ServerCheck = {
  name: 'proxy-websocket',
  condition: 'WebSocket upgrades of `/runner/v1/connect` reach the server',
  severity: 'error',
  why: 'Runners cannot connect, so no run executes.',
  fix: 'nginx: `proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection "upgrade";`. Caddy and Traefik do this automatically. Load balancers need an HTTP or TCP listener that allows WebSockets.',
  async find({ url }) {
    const status = await upgradeStatus(`${url}/runner/v1/connect`);
    // Only the upgrade handler of the server requires a key there; without an upgrade the path does not exist.
    return status === 401
      ? []
      : [
          {
            what: `An upgrade was answered with status ${status}: the proxy dropped it, or changed the path.`,
          },
        ];
  },
};

/** The status of the response to an upgrade without a key. */
function upgradeStatus(address: string): Promise<number> {
  const request = address.startsWith('https:') ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const sent = request(address, {
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'bWlsbHJhY2UtZG9jdG9yIQ==',
      },
      agent: false,
      signal: AbortSignal.timeout(8_000),
    });
    const answered = (status: number): void => {
      sent.destroy();
      resolve(status);
    };
    sent.on('response', (response) => answered(response.statusCode ?? 0));
    sent.on('upgrade', () => answered(101));
    sent.on('error', reject);
    sent.end();
  });
}
