/** Clients that call an installation through its proxy while servers start and stop. */
import { expect } from 'vitest';

const headersOf = (key: string) => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' });

/** Triggers this many runs in sequence, retries each until it is acknowledged, and returns their ids. */
export async function triggerThrough(
  url: string,
  key: string,
  count: number,
  before: (index: number) => Promise<void>,
): Promise<string[]> {
  const runs: string[] = [];
  for (let index = 0; index < count; index++) {
    await before(index);
    const options = { idempotencyKey: `through-the-proxy-${index}` };
    const body = JSON.stringify({ payload: { name: String(index) }, options });
    const trigger = async (): Promise<string> => {
      const answer = await fetch(`${url}/api/v1/tasks/hello/trigger`, {
        method: 'POST',
        headers: headersOf(key),
        body,
      });
      return answer.ok
        ? ((await answer.json()) as { id: string }).id
        : `${answer.status} ${await answer.text()}`;
    };
    let id = '';
    await expect.poll(async () => (id = await trigger().catch(String)), { timeout: 60_000 }).toMatch(/^run_/);
    runs.push(id);
  }
  return runs;
}

/** The status of a run. */
export async function statusOf(url: string, key: string, run: string): Promise<string> {
  const answer = await fetch(`${url}/api/v3/runs/${run}`, { headers: headersOf(key) });
  return answer.ok ? ((await answer.json()) as { status: string }).status : `${answer.status}`;
}
