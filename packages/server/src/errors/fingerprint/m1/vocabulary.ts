import { bareDataBy, isErrorWord as isErrorWordNow } from '../vocabulary.ts';

// Words that came later.
const later = /^(?:activ(?!at)|paid|inbox|outbox|welcom)/i;

export const isErrorWord = (word: string): boolean => !later.test(word) && isErrorWordNow(word);

const naming =
  /(?:^|[\s(])(?:column|field|fields|property|prop|relation|table|constraint|key|keys|index|schema|function|method|operator|parameter|param|argument|option|variable|header|attribute|module|package|plugin|missing|required|need|needs|requires|import|export|named|scope|permission|feature|flag|rule|setting|reading|event|code|type|status|reason|error)[:=]? ?$/i;

export const withoutBareData = bareDataBy(isErrorWord, naming);
