import type { CompactAssignment, Outcome, RunnerMessage, ServerMessage } from '@millrace/contract/runner';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';

/** How a run ends. Default: it fails with the payload as its message. */
type Ending = (assignment: CompactAssignment) => Outcome;

const failing: Ending = ({ payload, payloadType }) => ({
  kind: 'failed',
  status: 'FAILED',
  error: {
    type: 'BUILT_IN_ERROR',
    name: 'TypeError',
    message: payloadType === undefined ? String(JSON.parse(payload ?? '"boom"')) : 'boom',
    stackTrace: 'TypeError: boom\n    at run (tasks/a.ts:1:1)',
  },
});

/** A runner with a real connection that ends every run as specified. */
export async function startTestRunner(
  url: string,
  key: string,
  versions: readonly string[],
  ending = failing,
): Promise<void> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/runner/v1/connect`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const send = (message: RunnerMessage): void => socket.send(JSON.stringify(message));
  socket.on('open', () =>
    send({
      type: 'hello',
      runner: `runner_${Math.random()}`,
      host: 'test',
      pid: 1,
      capacity: 10,
      versions,
      leased: [],
    }),
  );
  let beating: NodeJS.Timeout | undefined;
  onTestFinished(() => {
    clearInterval(beating);
    socket.terminate();
  });
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject);
    // oxlint-disable-next-line typescript/no-base-to-string -- frames are text
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as ServerMessage;
      if (message.type === 'welcome') {
        // Without heartbeats, the runner would be considered lost in a test that takes longer than its lease.
        beating = setInterval(() => send({ type: 'heartbeat' }), message.heartbeatMs);
        resolve();
      }
      if (message.type === 'refused') reject(new Error(message.reason));
      if (message.type !== 'run') return;
      send({
        type: 'settle',
        settlements: message.assignments.map((each) => ({
          run: each.run,
          fence: each.fence,
          outcome: ending(each),
        })),
      });
    });
  });
}
