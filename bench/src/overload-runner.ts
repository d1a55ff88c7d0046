/** Runners of one environment that send and receive as much as the server allows. */
import { WebSocket } from 'ws';
import type { LogLine, RunnerMessage, ServerMessage } from '@millrace/contract/runner';

export interface RunnerFlood {
  readonly port: number;
  readonly key: string;
  readonly runners: number;
  readonly ms: number;
  /** `lines`: frames of log lines, as many as may be unconfirmed. `claims`: runs of the `version`, each of which ends immediately. */
  readonly kind: 'lines' | 'claims';
  readonly version: string;
}

const linesPerFrame = 100;
const capacity = 100;

/** Returns the number of stored frames, or of ended runs, of all runners. */
export async function floodAsRunners(flood: RunnerFlood): Promise<number> {
  const counts = await Promise.all(Array.from({ length: flood.runners }, (_, n) => runner(flood, n)));
  return counts.reduce((sum, count) => sum + count, 0);
}

function runner({ port, key, ms, kind, version }: RunnerFlood, n: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/runner/v1/connect`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const send = (message: RunnerMessage): void => socket.send(JSON.stringify(message));
    let count = 0;
    let seq = 0;
    const sendLines = (): void => send({ type: 'log', seq: ++seq, lines: linesOf(n) });
    socket.on('open', () => {
      send({
        type: 'hello',
        runner: `runner-${n}-${process.pid}-${Date.now()}`,
        host: 'bench',
        pid: process.pid,
        capacity,
        versions: kind === 'claims' ? [version] : [],
        leased: [],
        knowsLogged: true,
      });
      setTimeout(() => socket.close(), ms);
    });
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as ServerMessage;
      if (message.type === 'welcome' && kind === 'lines')
        for (let frame = 0; frame < (message.logFrames ?? 1); frame++) sendLines();
      else if (message.type === 'logged') {
        count++;
        sendLines();
      } else if (message.type === 'run')
        send({
          type: 'settle',
          settlements: message.assignments.map(({ run, fence }) => ({
            run,
            fence,
            outcome: { kind: 'completed', output: '1', outputType: 'application/json' },
          })),
        });
      else if (message.type === 'settled') count += message.fences.length;
    });
    socket.on('close', () => resolve(count));
    socket.on('error', reject);
  });
}

const linesOf = (n: number): LogLine[] =>
  Array.from({ length: linesPerFrame }, () => ({
    run: `run_overload${n}`,
    attempt: 1,
    at: Date.now(),
    level: 'info',
    message: 'x'.repeat(120),
  }));
