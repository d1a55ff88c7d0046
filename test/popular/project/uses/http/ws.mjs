import { once } from 'node:events';
import { WebSocket, WebSocketServer } from 'ws';

export default async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  server.on('connection', (socket) => socket.send('hello'));
  const client = new WebSocket(`ws://127.0.0.1:${server.address().port}`);
  const [message] = await once(client, 'message');
  client.terminate();
  server.close();
  return String(message);
};
