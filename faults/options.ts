import { parseArgs } from 'node:util';

export interface Options {
  readonly only: readonly string[] | undefined;
  readonly seed: number;
  /** How long the load lasts after a fault has ended. */
  readonly seconds: number;
  readonly short: boolean;
  readonly list: boolean;
  readonly json: boolean;
  readonly keep: boolean;
}

export const usage = `npm run faults -- [options]

  --only <names>   scenarios, separated by commas (default: all)
  --short          only leader-killed, leader-cut-off and runner-half-open, for at most 40 s each
  --seed <n>       repeat the choices of an earlier run (default: a new seed, which is printed)
  --seconds <n>    how long the load continues after a fault has ended (default: 30, with --short 10)
  --list           print the scenarios and exit
  --json           print the results as JSON on stdout, and progress on stderr
  --keep           do not delete the folder with logs and histories at the end
`;

/** An error in the options, for a person. */
export class UsageError extends Error {}

export function optionsOf(args: readonly string[], names: readonly string[]): Options {
  const { values } = parsed(args);
  const { only, short = false } = values;
  const chosen = only?.split(',').map((name) => name.trim());
  const unknown = chosen?.find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new UsageError(`--only: unknown scenario "${unknown}". --list prints all.`);
  if (chosen && short) throw new UsageError('--only and --short exclude each other.');
  return {
    only: chosen,
    seed: numberOf('--seed', values.seed, 0, 2 ** 32 - 1) ?? Math.floor(Math.random() * 2 ** 32),
    seconds: numberOf('--seconds', values.seconds, 5, 86_400) ?? (short ? 10 : 30),
    short,
    list: values.list ?? false,
    json: values.json ?? false,
    keep: values.keep ?? false,
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        only: { type: 'string' },
        seed: { type: 'string' },
        seconds: { type: 'string' },
        short: { type: 'boolean' },
        list: { type: 'boolean' },
        json: { type: 'boolean' },
        keep: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function numberOf(option: string, text: string | undefined, min: number, max: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isInteger(value) || value < min || value > max)
    throw new UsageError(`${option}: must be an integer from ${min} to ${max}.`);
  return value;
}
