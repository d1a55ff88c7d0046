import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Exchange } from '../../request.ts';
import { EventStream } from './event-stream.ts';
import { dataLines, onWire } from './wire.ts';

/** Both ends of a connection. */
async function ends(): Promise<{ near: Socket; far: Socket }> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [far] = (await once(server, 'connection')) as [Socket];
  onTestFinished(() => {
    near.destroy();
    far.destroy();
    server.close();
  });
  return { near, far };
}

async function streamOn(change: Partial<Exchange> = {}) {
  const { near, far } = await ends();
  const events: string[] = [];
  const stream = new EventStream(
    { socket: far, isHttp10: false, headers: { 'x-one': '1' }, whileAllowed: () => () => {}, ...change },
    {
      ping: (now) => `: ${now}\n\n`,
      onDrain: () => events.push('drain'),
      onEnded: () => events.push('over'),
    },
  );
  let text = '';
  near.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  return { near, far, stream, events, text: () => text };
}

const becomes = async (read: () => unknown, expected: unknown) =>
  await expect.poll(read, { timeout: 20_000, interval: 5 }).toEqual(expected);

describe('an event stream', () => {
  test('is a chunked HTTP response, which `end` completes', async () => {
    const { stream, text, events, near } = await streamOn();
    const closed = once(near, 'close');
    stream.send(onWire('data: ü\n\n', 'chunks'));
    stream.check(7);
    stream.end('data: [DONE]\n\n');
    await closed;
    const [head, body] = text()
      .split('\r\n\r\n', 1)
      .concat(text().slice(text().indexOf('\r\n\r\n') + 4));
    expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(head).toMatch(/\r\nx-one: 1\r\n/);
    expect(head).toMatch(/\r\ntransfer-encoding: chunked/);
    expect(Buffer.from(body ?? '', 'latin1').toString()).toBe(
      'a\r\ndata: ü\n\n\r\n5\r\n: 7\n\n\r\ne\r\ndata: [DONE]\n\n\r\n0\r\n\r\n',
    );
    expect(events).toEqual(['over']);
    expect(stream.send(Buffer.from('x'))).toBe(false);
  });

  test('has no last chunk after `break`, or when its credential ends', async () => {
    const broken = await streamOn();
    const closed = once(broken.near, 'close');
    broken.stream.break();
    await closed;
    expect(broken.text()).not.toContain('0\r\n\r\n');
    let end: () => void = () => {};
    let released = 0;
    const refused = await streamOn({
      whileAllowed(ended) {
        end = ended;
        return () => released++;
      },
    });
    const gone = once(refused.near, 'close');
    expect(refused.events).toEqual([]);
    end();
    await gone;
    expect([refused.events, released]).toEqual([['over'], 1]);
    expect(refused.text()).not.toContain('0\r\n\r\n');
  });

  test('that has ended closes the connection of a client that does not read', async () => {
    const { near, far, stream, events } = await streamOn();
    near.pause();
    const frame = onWire('x'.repeat(500_000), 'chunks');
    while (stream.send(frame));
    stream.end();
    expect(events).toEqual(['over']);
    expect(far.writableLength).toBeGreaterThan(0);
    // The effect of the platform's timeout after a period without progress.
    expect(far.timeout).toBe(30_000);
    far.emit('timeout');
    expect(far.destroyed).toBe(true);
  });

  test('reports when it is full and when it has drained, and leaks no listener', async () => {
    const { near, far, stream, events } = await streamOn();
    const frame = onWire('x'.repeat(200_000), 'chunks');
    const listeners = () => far.eventNames().map((name) => [name, far.listenerCount(name)]);
    const before = listeners();
    for (let round = 1; round <= 20; round++) {
      near.pause();
      while (stream.send(frame));
      near.resume();
      await becomes(() => events.length, round);
    }
    expect(new Set(events)).toEqual(new Set(['drain']));
    expect(listeners()).toEqual(before);
  });

  test('breaks after half a minute without progress, but not while the client reads slowly', async () => {
    const { near, stream, events } = await streamOn();
    near.pause();
    const frame = onWire('x'.repeat(200_000), 'chunks');
    while (stream.send(frame));
    const now = Date.now();
    stream.check(now);
    stream.check(now + 29_000);
    expect(events).toEqual([]);
    near.resume();
    await becomes(() => events, ['drain']);
    near.pause();
    while (stream.send(frame));
    stream.check(now + 31_000);
    stream.check(now + 60_000);
    expect(events).toEqual(['drain']);
    stream.check(now + 61_001);
    expect(events).toEqual(['drain', 'over']);
  });

  test('ends when its client disconnects', async () => {
    const { near, events } = await streamOn();
    near.destroy();
    await becomes(() => events, ['over']);
  });
});

describe('a line', () => {
  test('with data is one event, regardless of line breaks in the text', () => {
    expect(dataLines('a\nb\r\nc\rd')).toBe('data: a\ndata: b\ndata: c\ndata: d\n');
    expect(dataLines('\u2028')).toBe('data: \u2028\n');
    expect(dataLines('')).toBe('data: \n');
  });
});
