/**
 * Reads errors as NDJSON `{taskIdentifier?, name, message, stack}` from standard input and prints one fingerprint id per line: `node
 * packages/fingerprint/src/cli.ts < errors.ndjson`. A line that is not a JSON object prints an empty line, so that input and output stay
 * aligned, and a message on standard error. The exit code is then 1.
 */
import { createInterface } from 'node:readline';
import { fingerprint, type ThrownError } from './index.ts';

function errorOf(line: string): ThrownError | string {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? value
      : 'expected a JSON object';
  } catch (error) {
    return error instanceof Error ? error.message : 'expected JSON';
  }
}

let number = 0;
for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  number += 1;
  const error = errorOf(line);
  if (typeof error === 'string') {
    process.stderr.write(
      `line ${number}: ${error}; write one error per line as {"name","message","stack"}\n`,
    );
    process.exitCode = 1;
  }
  const text = typeof error === 'string' ? '\n' : `${fingerprint(error).id}\n`;
  if (!process.stdout.write(text)) await new Promise((resolve) => process.stdout.once('drain', resolve));
}
