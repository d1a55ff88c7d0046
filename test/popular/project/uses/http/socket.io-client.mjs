import { io } from 'socket.io-client';

export default async () => {
  const client = io('http://127.0.0.1:1', { reconnection: false });
  return new Promise((resolve) => client.on('connect_error', (error) => resolve(error.type)));
};
