import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { screenOn } from './screen.ts';

/** Prompts for a line on the terminal that is not shown while it is typed. */
export async function typedSecret(question: string): Promise<string> {
  screenOn(process.stderr).line(question);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const ask = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  try {
    return await ask.question('');
  } finally {
    ask.close();
  }
}
