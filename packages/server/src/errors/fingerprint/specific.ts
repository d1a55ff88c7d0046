const engine =
  /^(?:TypeError|SyntaxError|ReferenceError|EvalError|URIError|AggregateError|AbortError|TimeoutError|AxiosError|AssertionError|StructError|GraphQLError|String|Object|\w{0,40}(?:Zod|Vali|valid)\w{0,40})$/;
const common = /\bE[A-Z]{3,15}\b|\b[1-5]\d\d\b|\bJSON\b/;
const words = /(?<![\w'<.])[a-zA-Z]{2,30}(?![\w'>])/g;
const enough = 5;

/**
 * True for a sentence that only one place of a task is likely to say: neither the class, which a minifier renames, nor the function, which it
 * renames too and which some versions of a library leave off the stack, is needed to know it again. A method says which of several classes of
 * one kind it is, and a helper is told by its caller: there both stay.
 */
export function saysEnough(type: string, message: string, site: string): boolean {
  if (engine.test(type) || common.test(message) || site.includes(' < ') || /^[A-Z]/.test(site)) return false;
  return (message.match(words)?.length ?? 0) >= enough;
}
