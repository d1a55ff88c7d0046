/** `millrace schedules preview` in a separate process, without a server. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const main = new URL('../../packages/millrace/dist/cli/main.js', import.meta.url).href;

async function preview(args: readonly string[], input = '') {
  const script = `const { main } = await import('${main}'); process.exitCode = await main(${JSON.stringify(['schedules', 'preview', ...args])});`;
  const child = spawn(
    fileURLToPath(new URL('../../node_modules/.bin/node', import.meta.url)),
    ['--input-type=module', '-e', script],
    { env: { PATH: process.env['PATH'] }, stdio: ['pipe', 'pipe', 'pipe'] },
  );
  child.stdin.end(input);
  const [stdout, stderr, exitCode] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.on('close', resolve)),
  ]);
  return { stdout, stderr, exitCode };
}

test('shows the next times of a pattern in its time zone, including clock changes', async () => {
  const args = ['0 0 * * *', '--tz', 'America/Santiago', '--from', '2026-09-05T12:00:00Z', '-n', '2'];
  const { stdout, exitCode } = await preview([...args, '--json']);
  expect(JSON.parse(stdout)).toEqual(['2026-09-06T04:00:00.000Z', '2026-09-07T03:00:00.000Z']);
  expect(exitCode).toBe(0);
  expect((await preview(args)).stdout).toMatch(
    /^2026-09-06T04:00:00\.000Z {2}Sunday, 6 September 2026 at 01:00:00/,
  );
});

test('an invalid pattern gets one sentence and exit code 2', async () => {
  const { stdout, stderr, exitCode } = await preview(['61 * * * *']);
  expect([stdout, exitCode]).toEqual(['', 2]);
  expect(stderr).toMatch(
    /^millrace: Invalid cron expression: 61 is out of range in the minute field; write 0-59\.\n$/,
  );
});

test('responds line by line, including invalid lines, for any number of lines', async () => {
  const good = { pattern: '*/30 * * * *', tz: 'America/New_York', from: '2026-11-01T05:00:00Z', n: 3 };
  const lines = [
    JSON.stringify(good),
    '{',
    '',
    JSON.stringify({ ...good, tz: 'Mars/Olympus' }),
    JSON.stringify({ ...good, pattern: '0 0 30 2 *' }),
    ...Array<string>(20_000).fill(JSON.stringify(good)),
  ];
  const { stdout, exitCode } = await preview(['--ndjson'], `${lines.join('\n')}\n`);
  const answers = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  expect(exitCode).toBe(0);
  expect(answers).toHaveLength(lines.length);
  const times = ['2026-11-01T05:30:00.000Z', '2026-11-01T06:00:00.000Z', '2026-11-01T06:30:00.000Z'];
  expect(answers[0]).toEqual(times);
  expect(answers[1]).toEqual({
    error: expect.stringMatching(/^Invalid JSON: .* Write a line such as/) as string,
  });
  expect(answers[2]).toEqual({ error: expect.stringMatching(/^Invalid JSON/) as string });
  expect(answers[3]).toEqual({ error: expect.stringMatching(/^Invalid IANA timezone/) as string });
  expect(answers[4]).toEqual([]);
  expect(answers.at(-1)).toEqual(times);
});
