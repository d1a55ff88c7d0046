/** The modules that the pages of docs/coming-from only declare: each call appends a line to a file. */

/** Modules that append to this file. The first mail and the first charge fail, so that the programs have to retry them. */
export const effectModules = (file: string): Readonly<Record<string, string>> => ({
  'effects.ts': `
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
const file = ${JSON.stringify(file)};
const lines = (): string[] => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\\n') : []);
export const note = (line: string): void => appendFileSync(file, line + '\\n');
export function failOnce(line: string): void {
  if (lines().includes(line)) return;
  note(line);
  throw new Error(line);
}
`,
  'mail.ts': `
import { failOnce, note } from './effects.ts';
export async function sendMail(to: string): Promise<{ id: string }> {
  failOnce('refused ' + to);
  note('sent ' + to);
  return { id: 'mail-' + to };
}
`,
  'shop.ts': `
import { failOnce, note } from './effects.ts';
export async function charge(id: string): Promise<string> {
  failOnce('declined ' + id);
  note('charged ' + id);
  return 'payment-' + id;
}
export async function ship(id: string): Promise<string> {
  note('shipped ' + id);
  return 'parcel-' + id;
}
export async function refund(payment: string): Promise<void> {
  note('refunded ' + payment);
}
`,
});
