import { seal, unseal, type MasterKey } from '../../auth/seal.ts';

/** A result as code returned it. */
interface Result {
  readonly output: string;
  readonly outputType: string;
}

const contextOf = (id: string): string => `run_steps:${id}`;

/** The type is sealed with the text, because the readable form may be a packet, which has a different type. */
export const sealResult = (masterKey: MasterKey, id: string, { output, outputType }: Result): Buffer =>
  seal(masterKey, `${outputType}\n${output}`, contextOf(id));

export function unsealResult(masterKey: MasterKey, id: string, sealed: Uint8Array): Result {
  const text = unseal(masterKey, sealed, contextOf(id));
  const end = text.indexOf('\n');
  return { output: text.slice(end + 1), outputType: text.slice(0, end) };
}
