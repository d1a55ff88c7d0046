import { createReadStream, existsSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** The objects in a file with one of them on each line. */
export async function readLines<T>(file: string, keep: (line: T) => boolean = () => true): Promise<T[]> {
  if (!existsSync(file)) return [];
  const found: T[] = [];
  for await (const line of createInterface({ input: createReadStream(file) })) {
    if (line === '') continue;
    const value = JSON.parse(line) as T;
    if (keep(value)) found.push(value);
  }
  return found;
}
