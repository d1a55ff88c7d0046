import { Client, type ClientConfig } from 'pg';
import type { Host } from './address.ts';
import { findLeader, forgetLeader, readOnlyReport, ReadOnlyHost } from './leader.ts';
import { answered, destroy, watchClient } from './watch.ts';

export interface WatchedConfig extends ClientConfig {
  /** Connections with the same address lead to the same host. */
  readonly address: string;
  /** If there are several, the one that accepts writes is used. */
  readonly hosts: readonly Host[];
  /** How long opening a connection to one host may take. */
  readonly connectMs: number;
}

type Connected = ((error: Error) => void) | ((error: null, client: Client) => void);

/** A client that limits the silence of its host and finds the leader among several hosts. Host names are resolved for each connection. */
export class WatchedClient extends Client {
  readonly #config: WatchedConfig;
  readonly #isReadOnly: () => Promise<boolean>;

  constructor(config: WatchedConfig) {
    // A pool's `connectionTimeoutMillis` also limits the wait for a free connection, which may take longer.
    // The pool makes `password` non-enumerable, so that it is not logged.
    const { password, connectMs } = config;
    super({ ...config, ...(password !== undefined && { password }), connectionTimeoutMillis: connectMs });
    this.#config = config;
    this.#isReadOnly = readOnlyReport(this);
    // The pending statements reject as well. An error without a listener would end the process.
    this.on('error', () => {});
  }

  override connect(): Promise<Client>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<Client> | void {
    if (!callback) return this.#open();
    void this.#openAndCall(callback as (error: Error | null, client?: Client) => void);
  }

  async #openAndCall(callback: (error: Error | null, client?: Client) => void): Promise<void> {
    const failure = await this.#open().then(
      () => null,
      (error: Error) => error,
    );
    callback(failure, this);
  }

  async #open(): Promise<Client> {
    const { address, hosts } = this.#config;
    const isOneOfSeveral = hosts.length > 1;
    if (isOneOfSeveral) {
      const { host, port } = await findLeader(this.#config);
      this.host = host;
      this.port = port;
      this.once('error', () => forgetLeader(address));
    }
    try {
      await super.connect();
      watchClient(this, address);
      if (isOneOfSeveral && (await answered(this, 'pulse', this.#isReadOnly()))) {
        destroy(this);
        throw new ReadOnlyHost();
      }
    } catch (error) {
      if (isOneOfSeveral) forgetLeader(address);
      throw error;
    }
    return this;
  }
}
