import { createReadStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { renameOver } from '@millrace/platform';
import { z } from 'zod';
import { parts } from './parts/index.ts';
import { waitingRun } from './runs.ts';

/** The version of the format. Within a version, lines only get additional members. */
export const formatVersion = 1;

const head = z.object({
  kind: z.literal('millrace-export'),
  version: z.int().min(1),
  millrace: z.string(),
  exportedAt: z.iso.datetime(),
  project: z.string(),
  environment: z.string(),
  branch: z.string().optional(),
});
export type Head = z.infer<typeof head>;

const end = z.object({ kind: z.literal('end'), records: z.int().min(0) });

export interface Record {
  readonly kind: string;
  /** Without its kind. */
  readonly value: object;
}

/** A file that cannot be imported. Nothing was written. */
export class FileRefused extends Error {
  override readonly name = 'ExportRefused';
}

const shapes = new Map<string, z.ZodType>([
  ...parts.map(({ kind, record }): [string, z.ZodType] => [kind, record]),
  ['run', waitingRun],
  // Finished runs are for other programs; an import skips them.
  ['finished-run', z.looseObject({ id: z.string() })],
]);

/** The kinds of records, in the order in which they appear in a file. */
export const kinds: readonly string[] = [...shapes.keys()];

/** Parses an export line by line and validates each line. Throws a FileRefused that names the first invalid line. */
export async function* readExport(file: string): AsyncGenerator<Head | Record> {
  const input = createReadStream(file, 'utf8');
  const failed = new Promise<never>((_, reject) => {
    input.once('error', (error: NodeJS.ErrnoException) =>
      reject(new FileRefused(`${file} cannot be read: ${error.message}`)),
    );
  });
  failed.catch(() => {});
  // A file that cannot be opened yields no lines.
  const opened = new Promise<void>((resolve) => input.once('open', () => resolve()));
  await Promise.race([opened, failed]);
  let line = 0;
  let records = 0;
  let isEnded = false;
  try {
    for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      line += 1;
      if (isEnded) {
        if (text.trim() === '') continue;
        throw new FileRefused(`Line ${line} of ${file} comes after the end of the export.`);
      }
      const value = parsed(text, line, file);
      if (line === 1) {
        yield headOf(value, file);
        continue;
      }
      if (value['kind'] === 'end') {
        const counted = checked(end, value, line, file).records;
        if (counted !== records)
          throw new FileRefused(
            `${file} has ${records} records, but its last line counts ${counted}: lines are missing.`,
          );
        isEnded = true;
        continue;
      }
      yield recordOf(value, line, file);
      records += 1;
    }
  } finally {
    input.destroy();
  }
  if (line === 0) throw new FileRefused(`${file} is empty.`);
  if (!isEnded)
    throw new FileRefused(
      `${file} is truncated after line ${line}: the last line of an export is missing. Export again.`,
    );
}

function parsed(text: string, line: number, file: string): { readonly [name: string]: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Reported below.
  }
  if (line === 1)
    throw new FileRefused(`${file} is not a Millrace export: its first line is not a JSON object.`);
  throw new FileRefused(
    `Line ${line} of ${file} is not a JSON object. The file may be truncated: export again.`,
  );
}

function headOf(value: { readonly [name: string]: unknown }, file: string): Head {
  if (value['kind'] !== 'millrace-export')
    throw new FileRefused(
      `${file} is not a Millrace export: \`kind\` in its first line is not "millrace-export".`,
    );
  const version = value['version'];
  if (typeof version === 'number' && version > formatVersion)
    throw new FileRefused(
      `${file} has format ${version}, but this Millrace reads up to ${formatVersion}: import it with a newer one.`,
    );
  return checked(head, value, 1, file);
}

function recordOf(
  { kind, ...value }: { readonly [name: string]: unknown },
  line: number,
  file: string,
): Record {
  const shape = typeof kind === 'string' ? shapes.get(kind) : undefined;
  if (!shape || typeof kind !== 'string')
    throw new FileRefused(`Line ${line} of ${file}: \`kind\` must be one of ${kinds.join(', ')}.`);
  return { kind, value: checked(shape, value, line, file) as object };
}

function checked<T>(shape: z.ZodType<T>, value: unknown, line: number, file: string): T {
  const { success, data, error } = shape.safeParse(value);
  if (success) return data;
  const [issue] = error.issues;
  throw new FileRefused(
    `Line ${line} of ${file}: \`${issue?.path.join('.') ?? ''}\`: ${issue?.message ?? 'is invalid'}.`,
  );
}

/** The destination of lines. */
export interface Lines {
  write(value: object): Promise<void>;
}

/** Writes lines to a file that only its owner may read, and that appears when it is complete. */
export async function writeFileOnce<R>(file: string, write: (lines: Lines) => Promise<R>): Promise<R> {
  const part = `${file}.part`;
  await rm(part, { force: true });
  const handle = await open(part, 'wx', 0o600);
  try {
    let pending = '';
    const flush = async (): Promise<void> => {
      const text = pending;
      pending = '';
      await handle.write(text);
    };
    const result = await write({
      async write(value) {
        pending += `${JSON.stringify(value)}\n`;
        if (pending.length > 65_536) await flush();
      },
    });
    await flush();
    await handle.sync();
    await handle.close();
    await renameOver(part, file);
    return result;
  } catch (error) {
    await handle.close().catch(() => {});
    await rm(part, { force: true });
    throw error;
  }
}
