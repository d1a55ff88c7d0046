import { Connection } from '../../packages/runner/src/runner/connection.ts';

/** A runner's own connection, but what it is given it keeps and never ends. */
export interface IdleRunner {
  /** The next run that comes, in order. */
  next(): Promise<string>;
  close(): void;
}

export async function connectIdleRunner(
  url: string,
  secretKey: string,
  version: string,
): Promise<IdleRunner> {
  const runs: string[] = [];
  let arrived: (() => void) | undefined;
  let connection: Connection | undefined;
  await new Promise<void>((resolve, reject) => {
    connection = new Connection({
      url,
      secretKey,
      hello: () => ({
        type: 'hello',
        runner: 'idle',
        host: 'test',
        pid: process.pid,
        capacity: 20,
        versions: [version],
        leased: [],
      }),
      onWelcome: () => resolve(),
      onMessage(message) {
        if (message.type !== 'run') return;
        runs.push(...message.assignments.map((assignment) => assignment.run));
        arrived?.();
      },
      onState() {},
      onLeasesLost() {},
      onRefused: reject,
    });
  });
  return {
    async next() {
      while (runs.length === 0) {
        await new Promise<void>((resolve) => {
          arrived = resolve;
        });
      }
      return runs.shift() as string;
    },
    close: () => connection?.close(),
  };
}
