/** The SDK of an installed version in a separate process, which this checkout's import conditions do not affect. */
import { pathToFileURL } from 'node:url';

interface Call {
  readonly number: number;
  /** For example `tasks.trigger`. */
  readonly name: string;
  readonly args: readonly unknown[];
}

const [entry = '', baseURL = '', secretKey = ''] = process.argv.slice(2);
const { MillraceClient } = (await import(pathToFileURL(entry).href)) as {
  MillraceClient: new (
    settings: object,
  ) => Record<string, Record<string, (...args: readonly unknown[]) => Promise<unknown>>>;
};
const client = new MillraceClient({ baseURL, secretKey });

async function answer({ number, name, args }: Call): Promise<void> {
  const [group = '', method = ''] = name.split('.');
  try {
    process.send?.({ number, result: await client[group]?.[method]?.(...args) });
  } catch (error) {
    process.send?.({ number, error: String(error) });
  }
}
process.on('message', (call: Call) => void answer(call));
process.on('disconnect', () => process.exit());
process.send?.({ number: 0 });
