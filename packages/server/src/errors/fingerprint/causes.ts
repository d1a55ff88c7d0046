import { bounds } from './bounds.ts';
import { normaliseMessage } from './message.ts';
import { typeOf } from './type.ts';

/** A cause as the stack's text shows it. */
interface Written {
  name: string;
  message: string;
  code: string;
}

const opening = /^ {0,16}(?:\[?cause\]?: |\[errors\]: |Caused by: |(?:\[errors\]: )?\[$)/;
const header = /^ {0,16}\[?([A-Z_$][\w$.]{0,80}|error)(?: \[([\w.-]{1,60})\])?(?:: ?([^\n]{0,600}))?$/;

/** Causes written into the text of a stack: `[cause]:` and `[errors]:` of util.inspect, and `Caused by:`. */
export function writtenCauses(stack: string): Written[] {
  if (
    !stack.includes('cause]: ') &&
    !stack.includes('\n  cause: ') &&
    !stack.includes('[errors]:') &&
    !stack.includes('Caused by:')
  )
    return [];
  const found: Written[] = [];
  let listed = false;
  let previousEnded = false;
  for (const line of stack.split('\n', 400)) {
    const short = line.slice(0, bounds.line);
    const list = /^ {0,16}\[errors\]: \[$/.test(short);
    if (list) {
      listed = true;
      previousEnded = true;
      continue;
    }
    let rest = '';
    if (opening.test(short)) rest = short.replace(opening, '');
    else if (listed && previousEnded) rest = short.trim();
    previousEnded = /(?:,|\},?|\])$/.test(short);
    if (rest === '') continue;
    const match = header.exec(rest.replace(/(?: \{|\] \{|\],?)$/, ''));
    if (match) found.push({ name: match[1] ?? '', message: match[3] ?? '', code: match[2] ?? '' });
    if (found.length === bounds.causes) break;
  }
  return found;
}

const systemCode = /^(?:\w{2,20} )?(E[A-Z_]{3,15}|UND_ERR_\w{2,30})$/;

/** Type and message of each cause, without those that repeat the error they explain. */
export function causeKeys(
  causes: { name: unknown; message: string; stack?: string; code: string }[],
  type: string,
  message: string,
): string[] {
  const keys: string[] = [];
  for (const cause of causes) {
    const causeMessage = normaliseMessage(cause.message) || cause.code;
    const causeType = typeOf(cause.name, cause.stack ?? '');
    if (causeMessage === '' ? causeType === type : message.includes(causeMessage)) continue;
    // Several addresses tried and refused are an AggregateError, a single one is an Error: the code is what they share.
    const key = systemCode.exec(causeMessage)?.[1] ?? `${causeType}: ${causeMessage}`;
    if (!keys.includes(key)) keys.push(key);
    if (keys.length === bounds.causes) break;
  }
  return keys;
}
