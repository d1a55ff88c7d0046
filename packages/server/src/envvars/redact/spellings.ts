/** How a secret may be written down: as it is, in JSON, in base64 and in URLs. Pure. */

/** A shorter text is no secret that could be told from ordinary words. */
export const shortestSecret = 8;
/** A line of a secret of several lines (a private key) is looked for by itself when it is as long as this. */
const shortestLine = 16;

/** Every text to look for, none shorter than {@link shortestSecret}. */
export function spellingsOf(secret: string): Set<string> {
  const spellings = new Set<string>();
  for (const part of partsOf(secret)) {
    for (const text of [part, ...inJson(part), inPath(part), ...inBase64(part), ...inUrls(part)]) {
      if (text.length >= shortestSecret) spellings.add(text);
    }
  }
  return spellings;
}

/** The secret, what is left of it when a program trims it, its lines, and the password of an address. */
function partsOf(secret: string): Set<string> {
  const parts = new Set([secret, secret.trim()]);
  const lines = secret.split(/\r?\n/).map((line) => line.trim());
  if (lines.length > 1) for (const line of lines) if (line.length >= shortestLine) parts.add(line);
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(secret) && URL.canParse(secret)) {
    const { password } = new URL(secret);
    parts.add(password);
    parts.add(decoded(password));
  }
  for (const part of parts) if (part.length < shortestSecret) parts.delete(part);
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

/** Escaped once, and once more for JSON within JSON. */
const inJson = (text: string): string[] => [escaped(text), escaped(escaped(text))];

/** As a name in the paths by which outputs with dates and the like tell where those are. */
const inPath = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('.', '\\.');

/**
 * Both alphabets, at each of the three places in a group that the secret may begin at when something stands before it
 * (`user:secret`). Letters that also depend on what stands around it are left out.
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
