import { Connection } from '../../packages/runner/src/runner/connection.ts';

/** A runner connection that accepts runs and never ends them. */
export interface IdleRunner {
  /** The next run in arrival order. */
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
