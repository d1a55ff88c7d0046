import type { MillraceClient } from '@millrace/sdk';
import { z } from 'zod';
import { bounded } from './bounded.ts';

/** The context of a tool call. */
export interface ToolContext {
  readonly client: MillraceClient;
  /** Aborted when the caller gives up. */
  readonly signal: AbortSignal;
  /** Reports progress to the caller, if it was requested. */
  readonly progress: (message: string) => Promise<void>;
}

type Answer = Readonly<Record<string, unknown>>;

/** A tool, with its types erased. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  /** Whether it changes something. */
  readonly writes: boolean;
  /** Whether it ends or replaces something. */
  readonly destroys: boolean;
  /** Whether a second call with the same arguments has no further effect. */
  readonly idempotent: boolean;
  readonly act: (input: never, context: ToolContext) => Promise<Answer>;
}

interface Declared<I extends z.ZodRawShape> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: I;
  /** The members of its result that callers may rely on; there may be more. */
  readonly output: z.ZodRawShape;
}

const notes = {
  cut: z.string().optional().describe('Present only if texts or lists were cut: how to get the rest.'),
};

const declared = <I extends z.ZodRawShape>({ input, output, ...names }: Declared<I>) => ({
  ...names,
  input: z.strictObject(input),
  output: z.looseObject({ ...output, ...notes }),
});

/** A tool that changes nothing. `rest` describes how to get omitted data. */
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

/** A tool that changes something: rejected unless the server was started with `--write`. */
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
    act: async (input, context) => fitting(await write(input, context), 'explain_run returns the details.'),
  };
}

function fitting(answer: Answer, rest: string): Answer {
  const { value, isCut } = bounded(answer);
  return isCut ? { ...value, cut: `Long texts and lists are cut. ${rest}` } : value;
}

/** A request that cannot be carried out. The message is for the model. */
export class ToolRefused extends Error {
  override readonly name = 'ToolRefused';
}
