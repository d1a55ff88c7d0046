/** The encodings in which a secret may appear: plain, JSON, base64 and URL encoding. Pure. */

/** Shorter secrets cannot be distinguished from ordinary words. */
export const minSecretLength = 8;
/** Lines of a multi-line secret, such as a private key, are also redacted individually from this length. */
const minLineLength = 16;

/** All texts to search for, none shorter than {@link minSecretLength}. */
export function encodingsOf(secret: string): Set<string> {
  const encodings = new Set<string>();
  for (const part of partsOf(secret)) {
    for (const text of [part, ...inJson(part), inPath(part), ...inBase64(part), ...inUrls(part)]) {
      if (text.length >= minSecretLength) encodings.add(text);
    }
  }
  return encodings;
}

/** The secret, its trimmed form, its lines, and the password in a URL. */
function partsOf(secret: string): Set<string> {
  // A blank value is not a secret; searching for it would redact all indentation.
  if (secret.trim() === '') return new Set();
  const parts = new Set([secret, secret.trim()]);
  const lines = secret.split(/\r?\n/).map((line) => line.trim());
  if (lines.length > 1) for (const line of lines) if (line.length >= minLineLength) parts.add(line);
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(secret) && URL.canParse(secret)) {
    const { password } = new URL(secret);
    parts.add(password);
    parts.add(decoded(password));
  }
  for (const part of parts) if (part.length < minSecretLength) parts.delete(part);
  return parts;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Escaped once, and twice for JSON within JSON. */
const inJson = (text: string): string[] => [escaped(text), escaped(escaped(text))];

/** As a key in the paths of superjson's metadata. */
const inPath = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('.', '\\.');

/**
 * Both alphabets, at each of the three offsets at which a secret may begin inside a longer text (`user:secret`). Characters that also
 * depend on the text around it are omitted.
 */
function inBase64(text: string): string[] {
  const bytes = Buffer.from(text);
  return [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const own = encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

function inUrls(text: string): string[] {
  const forms = [
    encodeURIComponent(text),
    encodeURI(text),
    new URLSearchParams([['', text]]).toString().slice(1),
  ];
  return [...forms, ...forms.map((form) => form.replaceAll(/%[\dA-F]{2}/g, (code) => code.toLowerCase()))];
}
