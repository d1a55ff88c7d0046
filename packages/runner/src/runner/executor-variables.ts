import type { EnvironmentFacts } from '@millrace/contract/runner';
import type { ProcessEnvironment } from '../executor/messages.ts';
import type { Welcome } from './connection.ts';
import { executorEnvironment } from './executor-env.ts';
import type { RunnerOptions } from './options.ts';
import type { ExecutorEnvironment } from './pool.ts';
import type { Secrets } from './secrets.ts';

/** The variables of the environment, as sent by the server. */
export type ToldVariables = Pick<Welcome, 'variables' | 'revision' | 'secrets'>;

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
  #told: ToldVariables | undefined;

  constructor(options: ExecutorVariablesOptions) {
    this.#options = options;
    this.#base = { ...options.base, ...options.identity };
    this.#env = { inherited: this.#base, added: {} };
  }

  get env(): ProcessEnvironment {
    return this.#env;
  }

  /** The last variables from the server; undefined before its welcome. */
  get told(): ToldVariables | undefined {
    return this.#told;
  }

  /** Changes the inherited variables, effective from the next `in`. */
  inherit(base: Readonly<Record<string, string>>): void {
    this.#base = { ...base, ...this.#options.identity };
  }

  learn(told: ToldVariables): void {
    this.#told = told;
    const unknown = this.#unknown;
    const hidden = Object.keys(unknown).filter((name) => !(name in told.variables));
    this.#options.secrets.learn(
      told.variables,
      told.secrets,
      hidden.flatMap((name) => unknown[name] ?? []),
    );
  }

  /** Computes the environment of new processes, and whether it differs from the previous one. Call it after `learn`. */
  in(facts: EnvironmentFacts): { readonly environment: ExecutorEnvironment; readonly isNew: boolean } {
    const { variables = {}, revision } = this.#told ?? {};
    const all = { ...this.#unknown, ...variables };
    const environment = executorEnvironment(this.#base, all, this.#options, facts, revision);
    const isNew = environment.revision !== this.#revision;
    this.#env = environment.env;
    this.#revision = environment.revision;
    return { environment, isNew };
  }

  /** Variables that the server does not know. */
  get #unknown(): Readonly<Record<string, string>> {
    return this.#options.outside?.values ?? {};
  }
}
