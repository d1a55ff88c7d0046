import { setTimeout as pause } from 'node:timers/promises';

export interface Server {
  readonly url: string;
  readonly key: string;
}

/** The result of a use, or the reason why it failed. */
export interface Used {
  readonly output?: unknown;
  readonly error?: string;
}

interface Run {
  readonly status: string;
  readonly output?: unknown;
  readonly error?: { readonly name?: string; readonly message?: string };
}

const ended = /^(?:COMPLETED|FAILED|CRASHED|SYSTEM_FAILURE|TIMED_OUT|CANCELED|EXPIRED)$/;

/** Uses all packages concurrently, then those alone that fail or that `isDoubtful` selects. */
export async function useAll(
  server: Server,
  names: readonly string[],
  progress: (line: string) => void,
  isDoubtful: (name: string, used: Used) => boolean = (_, { error }) => error !== undefined,
): Promise<Map<string, Used>> {
  const used = await useBy('together', server, names, progress);
  const again = names.filter((name) => isDoubtful(name, used.get(name) ?? {}));
  return new Map([...used, ...(await useBy('alone', server, again, progress))]);
}

/** Triggers a run of one task for each use and waits for all of them. */
async function useBy(
  task: string,
  { url, key }: Server,
  names: readonly string[],
  progress: (line: string) => void,
): Promise<Map<string, Used>> {
  const call = async <T>(path: string, body?: unknown): Promise<T> => {
    const response = await fetch(url + path, {
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };
  const waiting = new Map<string, string>();
  for (const name of names) {
    const { id } = await call<{ id: string }>(`/api/v1/tasks/${task}/trigger`, {
      payload: { name },
    });
    waiting.set(name, id);
  }
  const used = new Map<string, Used>();
  while (waiting.size > 0) {
    await pause(500);
    for (const [name, id] of [...waiting].slice(0, 20)) {
      const { status, output, error } = await call<Run>(`/api/v3/runs/${id}`);
      if (!ended.test(status)) continue;
      waiting.delete(name);
      used.set(
        name,
        status === 'COMPLETED' ? { output } : { error: `${status}: ${error?.name}: ${error?.message}` },
      );
      progress(
        `${task} ${names.length - waiting.size}/${names.length} ${name}: ${JSON.stringify(used.get(name)).slice(0, 160)}`,
      );
    }
  }
  return used;
}
