import type { Ask } from './caller.ts';
import { end, Script } from './child.ts';
import { source } from './folders.ts';
import type { Address, Profile, System } from './system.ts';

export interface Caller {
  readonly pid: number;
  ask<T>(ask: Ask): Promise<T>;
  close(): Promise<void>;
}

/** Starts a process that calls a system. */
export async function openCaller(system: System, address: Address, profile: Profile): Promise<Caller> {
  const script = new Script(source('caller.ts'));
  const [name = ''] = system.name.split(':');
  await script.ask({ act: 'open', system: name, address, profile } satisfies Ask);
  return { pid: script.pid, ask: (ask) => script.ask(ask), close: () => end(script.child) };
}
