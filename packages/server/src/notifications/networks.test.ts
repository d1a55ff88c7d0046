import { createServer, type AddressInfo, type Socket } from 'node:net';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createNetworks } from './networks.ts';
import { post, type Resolve } from './post.ts';
import { startReceiver } from './testing/receiver.ts';

const refuses = (
  networks: ReturnType<typeof createNetworks>,
  address: string,
  protocol = 'https:',
): boolean => {
  try {
    networks.check(protocol, address);
    return false;
  } catch {
    return true;
  }
};

describe('networks', () => {
  const networks = createNetworks();
  test.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '168.63.129.16',
    '161.26.0.10',
    '166.9.0.1',
    '192.31.196.1',
    '192.175.48.6',
    '100.100.100.200',
    '192.0.0.192',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '192.0.0.8',
    '198.18.0.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:169.254.169.254',
    '::ffff:a83f:8110',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b::168.63.129.16',
    '2002:a83f:8110::',
    'fd00:ec2::254',
    'fd20:ce::254',
    'fe80::a9fe:a9fe',
    '5f00::1',
    '2620:4f:8000::1',
    '::ffff:8.8.8.8',
    '::7f00:1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    '100::1',
    'fc00::1',
    'fd12::1',
    'fe80::1',
    'fec0::1',
    'ff02::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '3fff::1',
  ])('%s is rejected', (address) => {
    expect(refuses(networks, address)).toBe(true);
  });

  test.each([
    '1.1.1.1',
    '8.8.8.8',
    '172.32.0.1',
    '168.63.129.15',
    '168.63.129.17',
    '166.12.0.1',
    '100.128.0.1',
    '11.0.0.1',
    '2606:4700::1111',
    '2a00:1450:4001::1',
  ])('%s is allowed', (address) => {
    expect(refuses(networks, address)).toBe(false);
    expect(refuses(networks, address, 'http:')).toBe(true);
  });

  test('that are allowed accept http too, but no others do', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const own = createNetworks(['10.0.0.0/8', 'fd00::/8']);
        const isOwn = address.startsWith('10.');
        expect(refuses(own, address, 'http:')).toBe(!isOwn);
        expect(refuses(own, address)).toBe(!isOwn && refuses(networks, address));
      }),
    );
    expect(refuses(createNetworks(['fd00::/8']), 'fd00::1', 'http:')).toBe(false);
  });

  test.each(['10.0.0.0', 'ten/8', '10.0.0.0/33', 'fd00::/129', '10.0.0.0/-1', ''])(
    '"%s" is not a range',
    (range) => {
      expect(() => createNetworks([range])).toThrow(/is not an address range/);
    },
  );
});

describe('a name', () => {
  const to = (port: string, resolve: Resolve, allowed: string[]) =>
    post({
      url: new URL(`http://rebind.example:${port}/`),
      headers: { 'content-length': '2' },
      body: '{}',
      networks: createNetworks(allowed),
      resolve,
      signal: AbortSignal.timeout(5_000),
    });

  test('is resolved once, and the connection uses that address', async () => {
    const receiver = await startReceiver();
    let lookups = 0;
    const resolve: Resolve = async () => [
      { address: lookups++ === 0 ? '127.0.0.1' : '127.9.9.9', family: 4 },
    ];
    expect(await to(new URL(receiver.url).port, resolve, ['127.0.0.1/32'])).toBe(204);
    expect(lookups).toBe(1);
    expect(receiver.received).toHaveLength(1);
  });

  test('is rejected if any of its addresses is, even if it was allowed before', async () => {
    const receiver = await startReceiver();
    const { port } = new URL(receiver.url);
    const inside = { address: '127.0.0.1', family: 4 };
    await expect(to(port, async () => [inside], [])).rejects.toThrow(
      /^the name does not resolve to an allowed address$/,
    );
    await expect(
      to(port, async () => [{ address: '8.8.8.8', family: 4 }, inside], ['8.0.0.0/8']),
    ).rejects.toThrow(/^the name does not resolve/);
    await expect(to(port, async () => [], [])).rejects.toThrow(/^the name does not resolve/);
    const unknown = async () => {
      throw Object.assign(new Error('getaddrinfo ENOTFOUND rebind.example'), { code: 'ENOTFOUND' });
    };
    await expect(to(port, unknown, [])).rejects.toThrow(/^the name does not resolve/);
    await expect(to(port, async () => [{ address: '8.8.8.8', family: 4 }], [])).rejects.toThrow(/only https/);
    expect(receiver.received).toEqual([]);
  });
});

test('a name lookup has the same time limit as a response', async () => {
  const never = post({
    url: new URL('https://slow.example/'),
    headers: {},
    body: '{}',
    networks: createNetworks(),
    resolve: () => new Promise(() => {}),
    signal: AbortSignal.timeout(50),
  });
  await expect(never).rejects.toMatchObject({ name: 'TimeoutError' });
});

describe('a response', () => {
  /** The status that results from a receiver's raw response to a POST. */
  const statusOf = async (write: (socket: Socket) => void, patienceMs = 20_000): Promise<number> => {
    const sockets = new Set<Socket>();
    const receiver = createServer((socket) => {
      sockets.add(socket.on('error', () => {}));
      socket.once('data', () => write(socket));
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      receiver.close();
    });
    return post({
      url: new URL(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`),
      headers: { 'content-length': '2' },
      body: '{}',
      networks: createNetworks(['127.0.0.0/8']),
      resolve: async () => [],
      signal: AbortSignal.timeout(patienceMs),
    });
  };

  test.each(['', 'more'])('that changes the protocol is complete at that point (%s)', async (more) => {
    const switching = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';
    expect(await statusOf((socket) => socket.write(switching + more))).toBe(101);
  });

  test('counts once its status has arrived, even if the body never does', async () => {
    expect(
      await statusOf((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx'), 500),
    ).toBe(200);
    expect(await statusOf((socket) => socket.end('HTTP/1.1 503 No\r\ncontent-length: 9\r\n\r\nx'))).toBe(503);
    const endless = (socket: Socket) => socket.write(`HTTP/1.1 202 Accepted\r\n\r\n${'x'.repeat(1_000_000)}`);
    expect(await statusOf(endless)).toBe(202);
  });

  test('that never arrives is a failure', async () => {
    await expect(statusOf((socket) => socket.end())).rejects.toThrow(/hang up/);
    await expect(statusOf((socket) => socket.end('hello'))).rejects.toThrow(/Parse Error/);
    await expect(statusOf((socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\n'), 500)).rejects.toThrow(
      /aborted/,
    );
  });
});
