/** US dollars for a million tokens, as decimal texts. */
export interface DefaultPrice {
  /** The name of a model; a final `*` stands for any rest, such as a date. */
  readonly model: string;
  readonly input: string;
  /** Null: as `input`. */
  readonly cachedInput: string | null;
  readonly cacheWrite: string | null;
  readonly output: string;
}

/** The month of the price lists below. */
export const defaultPricesDate = '2025-10';

const price = (
  model: string,
  input: string,
  output: string,
  cachedInput: string | null = null,
  cacheWrite: string | null = null,
): DefaultPrice => ({ model, input, cachedInput, cacheWrite, output });

/**
 * List prices of the providers for plain requests, without batch discounts and surcharges for long contexts. A name in the list covers dated
 * versions (`gpt-5-2025-08-07`), but not a later model with a longer name (`gpt-5.1`).
 */
export const defaultPrices: readonly DefaultPrice[] = [
  // OpenAI
  ...dated('gpt-5', '1.25', '10', '0.125'),
  ...dated('gpt-5-mini', '0.25', '2', '0.025'),
  ...dated('gpt-5-nano', '0.05', '0.4', '0.005'),
  ...dated('gpt-4.1', '2', '8', '0.5'),
  ...dated('gpt-4.1-mini', '0.4', '1.6', '0.1'),
  ...dated('gpt-4.1-nano', '0.1', '0.4', '0.025'),
  ...dated('gpt-4o', '2.5', '10', '1.25'),
  ...dated('gpt-4o-mini', '0.15', '0.6', '0.075'),
  ...dated('o3', '2', '8', '0.5'),
  ...dated('o4-mini', '1.1', '4.4', '0.275'),
  price('text-embedding-3-small', '0.02', '0'),
  price('text-embedding-3-large', '0.13', '0'),
  // Anthropic
  price('claude-opus-4-1*', '15', '75', '1.5', '18.75'),
  price('claude-sonnet-4-5*', '3', '15', '0.3', '3.75'),
  ...dated('claude-sonnet-4', '3', '15', '0.3', '3.75'),
  price('claude-haiku-4-5*', '1', '5', '0.1', '1.25'),
  price('claude-3-7-sonnet*', '3', '15', '0.3', '3.75'),
  price('claude-3-5-haiku*', '0.8', '4', '0.08', '1'),
  // Google
  price('gemini-2.5-pro', '1.25', '10'),
  price('gemini-2.5-flash', '0.3', '2.5'),
  price('gemini-2.5-flash-lite', '0.1', '0.4'),
];

/** A model, and its versions with a date. */
function dated(model: string, ...amounts: [string, string, string?, string?]): DefaultPrice[] {
  return [price(model, ...amounts), price(`${model}-20*`, ...amounts)];
}
