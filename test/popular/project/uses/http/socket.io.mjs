import { createServer } from 'node:http';
import { Server } from 'socket.io';
import { io } from 'socket.io-client';
import { listening } from '../../support/with-server.mjs';

export default async () => {
  const http = createServer();
  const server = new Server(http);
  server.on('connection', (socket) => socket.emit('greeting', 'hello'));
  return listening(http.listen(0, '127.0.0.1'), async (url) => {
    const client = io(url);
    const said = await new Promise((resolve) => client.on('greeting', resolve));
    client.close();
    server.close();
    return said;
  });
};
