import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A TCP proxy that cuts connections after a random time and sends each new one to the next target. */
export async function cuttingProxy(targets: readonly number[], cutMs: () => number | undefined) {
  const sockets = new Set<Socket>();
  let turn = 0;
  let cuts = 0;
  const server = createServer((near) => {
    const far = connect(targets[turn++ % targets.length] as number, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far).pipe(near);
    const ms = cutMs();
    if (ms === undefined) return;
    setTimeout(() => {
      cuts += 1;
      near.destroy();
    }, ms).unref();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cuts: () => cuts,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
