import type { MillraceClient } from '@millrace/sdk';
import { z } from 'zod';
import { bounded } from './bounded.ts';

/** What a tool works with. */
export interface ToolContext {
  readonly client: MillraceClient;
  /** Aborted when the caller gives up. */
  readonly signal: AbortSignal;
  /** Tells the caller how far it is, if it asked for that. */
  readonly progress: (message: string) => Promise<void>;
}

type Answer = Readonly<Record<string, unknown>>;

/** A tool, its types erased. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  /** Whether it changes something. */
  readonly writes: boolean;
  /** It ends or replaces something. */
  readonly destroys: boolean;
  /** A second call with the same arguments changes nothing further. */
  readonly idempotent: boolean;
  readonly act: (input: never, context: ToolContext) => Promise<Answer>;
}

interface Declared<I extends z.ZodRawShape> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: I;
  /** The members of its answer that callers may rely on; there may be more. */
  readonly output: z.ZodRawShape;
}

const notes = {
  cut: z.string().optional().describe('There only if texts or lists were cut: how to get the rest.'),
};

const declared = <I extends z.ZodRawShape>({ input, output, ...names }: Declared<I>) => ({
  ...names,
  input: z.strictObject(input),
  output: z.looseObject({ ...output, ...notes }),
});

/** A tool that changes nothing. `rest` says how to get what an answer leaves out. */
export function reads<I extends z.ZodRawShape>(
  tool: Declared<I> & {
    readonly rest: string;
    readonly read: (input: z.infer<z.ZodObject<I>>, context: ToolContext) => Promise<Answer>;
  },
): Tool {
  const { rest, read, ...names } = tool;
  return {
    ...declared(names),
    writes: false,
    destroys: false,
    idempotent: true,
    act: async (input, context) => fitting(await read(input, context), rest),
  };
}

/** A tool that changes something: refused unless the server was started with `--write`. */
export function writes<I extends z.ZodRawShape>(
  tool: Declared<I> & {
    readonly destroys: boolean;
    readonly idempotent: boolean;
    readonly write: (input: z.infer<z.ZodObject<I>>, context: ToolContext) => Promise<Answer>;
  },
): Tool {
  const { write, destroys, idempotent, ...names } = tool;
  return {
    ...declared(names),
    writes: true,
    destroys,
    idempotent,
    act: async (input, context) => fitting(await write(input, context), 'explain_run has the details.'),
  };
}

function fitting(answer: Answer, rest: string): Answer {
  const { value, isCut } = bounded(answer);
  return isCut ? { ...value, cut: `Long texts and lists are cut. ${rest}` } : value;
}

/** A request that cannot be done as it is. The message is for the model. */
export class ToolRefused extends Error {
  override readonly name = 'ToolRefused';
}
