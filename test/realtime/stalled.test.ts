import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { testServer } from '../support/server.ts';
import { followEvents } from '../sessions/session-server.ts';

test(
  'a subscriber of runs that does not read blocks no other, and gets the current state of every run when it continues',
  { timeout: 90_000 },
  async () => {
    const server = await testServer();
    const count = 120;
    const padding = 'x'.repeat(100_000);
    const ids: string[] = [];
    for (let n = 0; n < count; n++) {
      const options = { tags: ['slow'], metadata: { step: 0 } };
      const { status, body } = await server.ask('/api/v1/tasks/work/trigger', {
        method: 'POST',
        body: { payload: padding, options },
      });
      expect(status).toBe(200);
      ids.push((body as { id: string }).id);
    }
    const socket = connect(server.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.write(
      `GET /realtime/v1/runs/events?tags=slow HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${server.keys.prod}\r\n\r\n`,
    );
    await once(socket, 'readable');
    socket.pause();
    const other = await followEvents(`${server.url}/realtime/v1/runs/events?tags=slow&skipColumns=payload`, {
      authorization: `Bearer ${server.keys.prod}`,
    });
    const steps = new Map<string, number>();
    const reading = (async () => {
      while ([...steps.values()].filter((step) => step === 2).length < count) {
        const { id, metadata } = JSON.parse((await other.next())?.data ?? '{}') as {
          id: string;
          metadata: { step: number };
        };
        steps.set(id, metadata.step);
      }
    })();
    for (const step of [1, 2]) {
      for (const id of ids) {
        const { status } = await server.ask(`/api/v1/runs/${id}/metadata`, {
          method: 'PUT',
          body: { metadata: { step } },
        });
        expect(status).toBe(200);
      }
    }
    // It gets all changes while the first one has not read half of the initial data.
    await reading;
    expect([...steps.keys()].toSorted()).toEqual(ids.toSorted());
    await other.cancel();
    expect(socket.bytesRead).toBeLessThan((count / 2) * padding.length);

    const last = new Map<string, number>();
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      const events = text.split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) {
        const data = /(?:^|\n)data: (\{.*\})/.exec(event)?.[1];
        if (data === undefined) continue;
        const { id, metadata } = JSON.parse(data) as { id: string; metadata: { step: number } };
        last.set(id, metadata.step);
      }
    });
    socket.resume();
    await expect
      .poll(() => [...last.values()].filter((step) => step === 2).length, { timeout: 30_000 })
      .toBe(count);
    expect([...last.keys()].toSorted()).toEqual(ids.toSorted());
  },
);
