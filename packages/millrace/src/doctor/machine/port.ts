import { once } from 'node:events';
import { createServer } from 'node:net';
import { Skipped } from '@millrace/server';
import { isMillrace } from '../server/is-millrace.ts';
import type { MachineCheck } from './input.ts';

const whys: Readonly<Record<string, string>> = {
  EACCES: 'requires administrator rights',
  EADDRNOTAVAIL: 'is not an address of this machine',
};

export const port: MachineCheck = {
  name: 'port',
  condition: 'a server can listen on its address, or listens there already',
  severity: 'error',
  why: '`millrace start` fails.',
  fix: 'Set `MILLRACE_HOST` and `MILLRACE_PORT` to a free address, or stop the program that uses it (`ss -ltnp`).',
  async find({ listen }) {
    if (!listen) throw new Skipped('the server is on another machine');
    const { host, port: number } = listen;
    const server = createServer();
    try {
      server.listen(number, host);
      await once(server, 'listening');
      server.close();
      return [];
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      const address = host.includes(':') ? `[${host}]` : host;
      if (code === 'EADDRINUSE') {
        const url = `http://${host === '0.0.0.0' || host === '::' ? '127.0.0.1' : address}:${number}`;
        if (await isMillrace(url)) return [];
        return [{ what: `Another program listens on ${address}:${number}.` }];
      }
      const why = whys[code];
      if (why === undefined) throw error;
      return [{ what: `${address}:${number} ${why}.` }];
    }
  },
};
