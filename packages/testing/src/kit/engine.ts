import { configure } from '@millrace/sdk';
import type { HostCalls, TestProject } from '../host/protocol.ts';
import { ArmedFaults } from '../faults/faults.ts';
import { Gateway } from '../faults/gateway.ts';
import type { Channel } from '../join/channel.ts';
import { InProcessRunner } from '../runner/runner.ts';
import type { TaskSet } from './tasks.ts';

const variables = [
  'MILLRACE_API_URL',
  'MILLRACE_SECRET_KEY',
  'MILLRACE_ACCESS_TOKEN',
  'MILLRACE_PREVIEW_BRANCH',
];

/** The environment of one test on the engine, with a runner in this process. */
export class TestEnvironment {
  readonly #channel: Channel;
  readonly #engineUrl: string;
  readonly #taskSet: TaskSet;
  readonly #concurrency: number;
  readonly #now: () => number;
  readonly #learn: (now: number) => void;
  readonly #former = new Map(variables.map((name) => [name, process.env[name]]));
  readonly faults = new ArmedFaults(() => this.#crash());
  readonly gateway: Gateway;
  project!: TestProject;
  runner!: InProcessRunner;
  url = '';

  constructor(options: {
    channel: Channel;
    engineUrl: string;
    taskSet: TaskSet;
    concurrency: number;
    now: () => number;
    learn: (now: number) => void;
  }) {
    this.#channel = options.channel;
    this.#engineUrl = options.engineUrl;
    this.#taskSet = options.taskSet;
    this.#concurrency = options.concurrency;
    this.#now = options.now;
    this.#learn = options.learn;
    this.gateway = new Gateway(options.engineUrl, {
      breakOf: (passing) => this.faults.breakOf(passing),
      isGone: (fence) => this.runner.isGone(fence),
    });
  }

  async start(): Promise<void> {
    const [url, project] = await Promise.all([this.gateway.start(), this.#channel.call('project', {})]);
    this.url = url;
    await this.#use(project);
  }

  /** Switches to a new, empty environment. */
  async renew(): Promise<void> {
    this.runner.close();
    await this.#use(await this.#channel.call('project', { before: this.project.projectRef }));
  }

  async work(): Promise<HostCalls['work']['reply']> {
    const work = await this.#channel.call('work', { environment: this.project.environment });
    this.#learn(work.now);
    return work;
  }

  async moveTo(at: number, jobs: readonly string[]): Promise<void> {
    const { now } = await this.#channel.call('moveTo', { at, jobs });
    this.#learn(now);
  }

  close(): void {
    this.runner?.close();
    this.gateway.close();
    for (const [name, value] of this.#former) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    configure({});
  }

  async #use(project: TestProject): Promise<void> {
    this.project = project;
    this.#learn(project.now);
    for (const name of variables) delete process.env[name];
    process.env['MILLRACE_API_URL'] = this.url;
    process.env['MILLRACE_SECRET_KEY'] = project.secretKey;
    // Reads the variables again. A lost response should not delay a test by a second.
    configure({ retry: { minTimeoutInMs: 5 } });
    this.runner = new InProcessRunner({
      url: this.#engineUrl,
      secretKey: project.secretKey,
      version: project.version,
      tasks: this.#taskSet.tasks,
      concurrency: this.#concurrency,
      now: this.#now,
      deliversTwice: (task) => this.faults.deliversTwice(task),
      takenBack: () => this.#takenBack(),
    });
    await this.runner.connect();
  }

  #crash(): void {
    this.runner.crash();
    this.gateway.breakOff();
  }

  /** No attempt has a lease any longer, because the engine has reclaimed the runs of the runner that is gone. */
  async #takenBack(): Promise<void> {
    for (;;) {
      const { executing } = await this.work();
      if (executing === 0) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
