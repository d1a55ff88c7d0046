import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type {
  Assignment,
  LogLine,
  Outcome,
  RegisterVersion,
  RunnerMessage,
  ServerMessage,
} from '@millrace/contract/runner';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import { BundleServer } from '../../bundle-cache/testing/bundle-server.ts';

type Hello = Extract<RunnerMessage, { type: 'hello' }>;

/** The other side of the runner protocol, which assigns attempts and records the replies without making any decisions. */
export class Peer {
  readonly secretKey = 'svc_dev_sk_000000000000000000000000';
  readonly registered: RegisterVersion[] = [];
  readonly hellos: Hello[] = [];
  readonly received: RunnerMessage[] = [];
  readonly outcomes = new Map<number, Outcome>();
  readonly lines: LogLine[] = [];
  variables: Record<string, string> = {};
  lost: number[] = [];
  /** Confirms outcomes as they arrive. */
  confirms = true;
  heartbeatMs = 200;
  leaseMs = 2_000;
  /** Replies to hellos immediately; otherwise `welcome` does. */
  welcomes = true;
  /** Replies to upgrades with this status instead, if set. */
  refuseWith: number | undefined;
  url = '';
  #socket: WebSocket | undefined;
  readonly #versions = new Map<string, string>();
  #fence = 0;
  readonly #waiting = new Set<{ readonly holds: () => boolean; readonly resolve: () => void }>();
  /** Responds to GET requests, for fetched versions. */
  readonly bundles = new BundleServer();
  readonly #http = createServer((request, response) => {
    if (request.method === 'GET') return this.bundles.handle(request, response);
    void (async () => {
      const body = await text(request);
      const version = JSON.parse(body) as RegisterVersion;
      const known = this.#versions.get(version.contentHash);
      const name = known ?? `20261121.${this.#versions.size + 1}`;
      this.#versions.set(version.contentHash, name);
      this.registered.push(version);
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ version: name, isNew: !known, isCurrent: true }));
      this.#check();
    })();
  });

  async listen(): Promise<this> {
    this.bundles.secretKey = this.secretKey;
    const sockets = new WebSocketServer({ noServer: true });
    this.#http.on('upgrade', (request, socket, head) => {
      if (this.refuseWith !== undefined || request.headers.authorization !== `Bearer ${this.secretKey}`) {
        socket.end(`HTTP/1.1 ${this.refuseWith ?? 401} No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
        return;
      }
      sockets.handleUpgrade(request, socket, head, (accepted) => this.#accept(accepted));
    });
    await new Promise<void>((resolve) => {
      this.#http.listen(0, '127.0.0.1', resolve);
    });
    this.url = `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
    return this;
  }

  get version(): string {
    return `20261121.${this.#versions.size}`;
  }

  /** Leases an attempt of a task to the runner and returns its fence. */
  assign(task: string, payload: unknown = null, more: Partial<Assignment> = {}): number {
    this.#fence += 1;
    const fence = this.#fence;
    const assignment: Assignment = {
      run: `run_${fence}`,
      fence,
      attempt: 1,
      task,
      version: this.version,
      payload: JSON.stringify(payload),
      payloadType: 'application/json',
      metadata: null,
      tags: [],
      isTest: false,
      queue: `task/${task}`,
      concurrencyKey: null,
      maxAttempts: 1,
      maxDuration: null,
      machine: null,
      priority: 0,
      createdAt: Date.now(),
      parentRun: null,
      rootRun: null,
      batch: null,
      schedule: null,
      ...more,
    };
    this.send({ type: 'run', assignments: [assignment] });
    return fence;
  }

  send(message: ServerMessage): void {
    this.#socket?.send(JSON.stringify(message));
  }

  welcome(): void {
    const { heartbeatMs, leaseMs, lost, variables } = this;
    const environment = {
      id: 'env_1',
      slug: 'dev',
      kind: 'DEVELOPMENT',
      branch: null,
      projectRef: 'proj_test',
      projectName: 'Test',
      organizationId: 'org_1',
      organizationName: 'Test',
    };
    this.send({ type: 'welcome', heartbeatMs, leaseMs, now: Date.now(), lost, variables, environment });
  }

  /** Waits until the condition holds; it is checked on every message of the runner. */
  until(holds: () => boolean): Promise<void> {
    if (holds()) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.add({ holds, resolve }));
  }

  async outcome(fence: number): Promise<Outcome> {
    await this.until(() => this.outcomes.has(fence));
    return this.outcomes.get(fence) as Outcome;
  }

  /** A run's log line with this message, once it has arrived. */
  async line(run: string, message: string): Promise<LogLine> {
    const find = (): LogLine | undefined =>
      this.lines.find((line) => line.run === run && line.message.includes(message));
    await this.until(() => find() !== undefined);
    return find() as LogLine;
  }

  /** Breaks the connection as a failing network does. */
  cut(): void {
    this.#socket?.terminate();
  }

  async close(): Promise<void> {
    this.#socket?.terminate();
    await new Promise((resolve) => this.#http.close(resolve));
  }

  #accept(socket: WebSocket): void {
    this.#socket = socket;
    socket.on('message', (data) => {
      const message = JSON.parse((data as Buffer).toString()) as RunnerMessage;
      this.received.push(message);
      this.#handle(message);
      this.#check();
    });
  }

  #handle(message: RunnerMessage): void {
    if (message.type === 'hello') {
      this.hellos.push(message);
      if (this.welcomes) this.welcome();
    } else if (message.type === 'log') this.lines.push(...message.lines);
    else if (message.type === 'settle') {
      for (const { fence, outcome } of message.settlements) this.outcomes.set(fence, outcome);
      const fences = message.settlements.map(({ fence }) => fence);
      if (this.confirms) this.send({ type: 'settled', fences, stale: [] });
    }
  }

  #check(): void {
    for (const waiting of this.#waiting) {
      if (!waiting.holds()) continue;
      this.#waiting.delete(waiting);
      waiting.resolve();
    }
  }
}
