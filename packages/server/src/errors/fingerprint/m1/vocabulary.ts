import { isErrorWord as isErrorWordNow } from '../vocabulary.ts';

// Words that came later.
const later = /^(?:activ(?!at)|paid|inbox|outbox|welcom)/i;

export const isErrorWord = (word: string): boolean => !later.test(word) && isErrorWordNow(word);

// In capitals too, apart from system codes and signals: "Depot QUYW is full".
const bareWord = /^\(?([A-Za-z][a-z]+(?:['-][A-Za-z]?[a-z]+)?|(?!E[A-Z]{3}|SIG)[A-Z]{2,8})[),;:!?.]{0,2}$/;
const naming =
  /(?:^|[\s(])(?:column|field|fields|property|prop|relation|table|constraint|key|keys|index|schema|function|method|operator|parameter|param|argument|option|variable|header|attribute|module|package|plugin|missing|required|need|needs|requires|import|export|named|scope|permission|feature|flag|rule|setting|reading|event|code|type|status|reason|error)[:=]? ?$/i;
const spoken =
  / is not (?:defined|a function|a constructor|iterable)|before initialization|has already been declared|assignment to constant/i;

/**
 * A message made of words that errors are written with, apart from one or a few: those are data that stood there without quotes. In another
 * language, or where most words are names, nothing is taken away.
 */
export function withoutBareData(text: string): string {
  const parts = text.split(' ');
  if (parts.length < 3 || spoken.test(text)) return text;
  let familiar = 0;
  const unknown: number[] = [];
  for (const [at, part] of parts.entries()) {
    const word = bareWord.exec(part)?.[1];
    if (word === undefined) continue;
    if (isErrorWord(word) || (word.includes('-') && word.split('-').every(isErrorWord))) familiar += 1;
    else if (at > 0 && !naming.test(`${parts[at - 2] ?? ''} ${parts[at - 1] ?? ''} `)) unknown.push(at);
  }
  if (unknown.length === 0 || familiar < 2 || unknown.length > familiar) return text;
  for (const at of unknown) parts[at] = (parts[at] ?? '').replace(/[A-Za-z'-]+/, '<>');
  return parts.join(' ');
}
