import type { EnvironmentInfo } from '@millrace/contract/runner';
import type { ProcessEnvironment } from '../executor/messages.ts';
import type { Welcome } from './connection.ts';
import { executorEnvironment } from './executor-env.ts';
import type { RunnerOptions } from './options.ts';
import type { ExecutorEnvironment } from './pool.ts';
import type { Secrets } from './secrets.ts';

/** The variables of the environment, as sent by the server. */
export type ServerVariables = Pick<Welcome, 'variables' | 'revision' | 'secrets'>;

export interface ExecutorVariablesOptions extends Pick<RunnerOptions, 'url' | 'outside'> {
  /** The variables that processes inherit. */
  readonly base: Readonly<Record<string, string>>;
  /** Variables of the user that runs the processes, added to `base`. */
  readonly identity: Readonly<Record<string, string>> | undefined;
  readonly secrets: Secrets;
}

/** The contents of `process.env` for the code of tasks: inherited variables, those of this machine, and those of the environment. */
export class ExecutorVariables {
  readonly #options: ExecutorVariablesOptions;
  #base: Readonly<Record<string, string>>;
  #env: ProcessEnvironment;
  #revision = '';
  #received: ServerVariables | undefined;

  constructor(options: ExecutorVariablesOptions) {
    this.#options = options;
    this.#base = { ...options.base, ...options.identity };
    this.#env = { inherited: this.#base, added: {} };
  }

  get env(): ProcessEnvironment {
    return this.#env;
  }

  /** The last variables from the server; undefined before its welcome. */
  get received(): ServerVariables | undefined {
    return this.#received;
  }

  /** Changes the inherited variables, effective from the next `in`. */
  inherit(base: Readonly<Record<string, string>>): void {
    this.#base = { ...base, ...this.#options.identity };
  }

  learn(received: ServerVariables): void {
    this.#received = received;
    const unknown = this.#unknown;
    const hidden = Object.keys(unknown).filter((name) => !(name in received.variables));
    this.#options.secrets.learn(
      received.variables,
      received.secrets,
      hidden.flatMap((name) => unknown[name] ?? []),
    );
  }

  /** Computes the environment of new processes, and whether it differs from the previous one. Call it after `learn`. */
  in(info: EnvironmentInfo): { readonly environment: ExecutorEnvironment; readonly isNew: boolean } {
    const { variables = {}, revision } = this.#received ?? {};
    const all = { ...this.#unknown, ...variables };
    const environment = executorEnvironment(this.#base, all, this.#options, info, revision);
    const isNew = environment.revision !== this.#revision;
    this.#env = environment.env;
    this.#revision = environment.revision;
    return { environment, isNew };
  }

  /** Variables unknown to the server. */
  get #unknown(): Readonly<Record<string, string>> {
    return this.#options.outside?.values ?? {};
  }
}
