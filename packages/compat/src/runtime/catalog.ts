import type { DeclaredMachine } from '../settings/machines.ts';
import { Prompts, type Prompt } from './prompts.ts';
import { type Endpoint, type Subscriber, WebhookEndpoints } from './webhook-endpoints.ts';

/** A task as registered by `task()`, `schemaTask()` and `schedules.task()` of the published SDK, 4.0 to 4.8. */
export interface CatalogTask {
  readonly id: string;
  readonly description?: string;
  readonly queue?: { readonly name?: string; readonly concurrencyLimit?: number };
  /** 4.8 and later. */
  readonly concurrency?: {
    readonly inline?: { readonly total?: number; readonly perKey?: number };
    readonly limits?: readonly string[];
  };
  /** With defaults for omitted settings. */
  readonly retry?: Readonly<Record<string, unknown>>;
  readonly machine?: DeclaredMachine;
  readonly maxDuration?: number;
  readonly ttl?: number | string;
  readonly triggerSource?: string;
  readonly schedule?: {
    readonly cron: string;
    readonly timezone?: string;
    readonly environments?: readonly string[];
    /** 4.8 and later. */
    readonly window?: string;
  };
  /** `jsonSchema` of a task without a schema. */
  readonly payloadSchema?: unknown;
  readonly schema?: unknown;
  readonly fns: {
    readonly run: (payload: unknown, args: object) => unknown;
    readonly parsePayload?: (payload: unknown) => unknown;
  };
}

/** A registration and its origin: the stack of the error contains the file and the line. */
export interface Registered {
  task: CatalogTask;
  readonly at: Error;
}

/** A message about an unsupported declaration in the project. */
export interface Refused {
  readonly sentence: string;
  readonly at: Error;
}

/** A limit shared by tasks, as declared by `concurrencyLimit()` of 4.8. */
export interface ConcurrencyLimit {
  readonly name: string;
  readonly perKey?: number | undefined;
  readonly total?: number | undefined;
}

interface Named {
  readonly id?: string;
  readonly name?: string;
}

/** The registrations of a project's task files. In these processes, registering a second task with the same id replaces the first. */
export class Catalog {
  readonly registered: Registered[] = [];
  readonly refused: Refused[] = [];
  readonly prompts = new Prompts();
  readonly webhooks = new WebhookEndpoints();
  readonly #byId = new Map<string, Registered>();
  readonly #queues = new Map<string, { readonly name: string; readonly concurrencyLimit?: number }>();
  readonly #limits = new Map<string, ConcurrencyLimit>();

  task(id: string): CatalogTask | undefined {
    return this.#byId.get(id)?.task;
  }

  tasks(): CatalogTask[] {
    return [...this.#byId.values()].map(({ task }) => task);
  }

  limit(name: string): ConcurrencyLimit | undefined {
    return this.#limits.get(name);
  }

  queue(name: string): { readonly concurrencyLimit?: number } | undefined {
    return this.#queues.get(name);
  }

  /** Their `resource-catalog` API. */
  readonly api = {
    disable() {},
    setCurrentFileContext() {},
    clearCurrentFileContext() {},
    registerWorkerManifest() {},
    registerTaskMetadata: (task: CatalogTask): void => {
      const entry = { task, at: new Error(`task ${task.id}`) };
      for (const name of unknownIn(task))
        this.#refuse(
          `task "${task.id}": not supported by Millrace: the published SDK registers "${name}", which later versions than 4.8 have: remove that option`,
        );
      this.registered.push(entry);
      this.#byId.set(task.id, entry);
    },
    updateTaskMetadata: (id: string, changes: Partial<CatalogTask>): void => {
      const entry = this.#byId.get(id);
      if (entry) entry.task = { ...entry.task, ...changes, fns: { ...entry.task.fns, ...changes.fns } };
    },
    registerQueueMetadata: (queue: { readonly name: string; readonly concurrencyLimit?: number }): void => {
      if (!this.#queues.has(queue.name)) this.#queues.set(queue.name, queue);
    },
    getTask: (id: string) => this.task(id),
    getTaskManifest: (id: string) => this.task(id),
    getTaskSchema: (id: string) => this.task(id)?.schema,
    taskExists: (id: string) => this.task(id) !== undefined,
    listTaskManifests: () => this.registered.map(({ task }) => task),
    listTaskIdCollisions: () => [],
    listQueueManifests: () => [...this.#queues.values()],
    // 4.4 and later.
    registerPromptMetadata: (prompt: Prompt): void => this.prompts.add(prompt),
    listPromptManifests: () => this.prompts.list(),
    getPrompt: (id: string) => this.prompts.get(id),
    getPromptSchema: () => undefined,
    // 4.5 and later.
    registerSkillMetadata: ({ id }: Named): void =>
      this.#refuse(`the skill "${id}" (skills.define) is not bundled here: add its folder with copyFiles`),
    listSkillManifests: () => [],
    getSkillManifest: () => undefined,
    // 4.8.
    registerConcurrencyLimitMetadata: (limit: ConcurrencyLimit): void =>
      void this.#limits.set(limit.name, limit),
    listConcurrencyLimitManifests: () => [...this.#limits.values()],
    registerWebhookEndpointMetadata: (endpoint: Endpoint): void => this.webhooks.define(endpoint),
    listWebhookEndpointManifests: () => this.webhooks.list(),
    getWebhookEndpointManifest: (id: string) => this.webhooks.get(id),
    listWebhookEndpointIdCollisions: () => [],
    registerWebhookSubscriber: (subscriber: Subscriber): void => this.webhooks.subscribe(subscriber),
    listWebhookSubscribers: () => [...this.webhooks.subscribers()],
    registerDeclaredSessionWebhook() {},
    markSessionWebhookClaimed() {},
    listUnclaimedSessionWebhooks: () => [],
  };

  #refuse(sentence: string): void {
    this.refused.push({ sentence, at: new Error(sentence) });
  }
}

/** The properties that versions up to 4.8 register for a task. */
const known = new Set(
  'id description queue concurrency retry machine triggerSource agentConfig maxDuration ttl payloadSchema schema fns schedule'.split(
    ' ',
  ),
);

const unknownIn = (task: object): string[] =>
  Object.entries(task).flatMap(([name, value]) => (value === undefined || known.has(name) ? [] : [name]));
