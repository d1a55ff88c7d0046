import { withAllWords } from './words.ts';

/**
 * One named step of message normalization. `gate` is a cheap test that avoids running the patterns on most messages. `ascii` is true for a
 * message without other letters.
 */
export interface Rule {
  name: string;
  gate?: (text: string) => boolean;
  apply: (text: string, ascii: boolean) => string;
}

const guard = 0xe000;
const asciiOffset = guard - 0x20;
const guarded = /[\ue000-\ue05f]/g;

/** Hides text from the following rules; `reveal` restores it. Used for text that distinguishes errors, such as a status. */
export function protect(text: string): string {
  let hidden = '';
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    hidden += unit >= 0x20 && unit < 0x80 ? String.fromCharCode(unit + asciiOffset) : text[at];
  }
  return hidden;
}

export function reveal(text: string): string {
  return text.replace(guarded, (hidden) => String.fromCharCode(hidden.charCodeAt(0) - asciiOffset));
}

/** Removes such characters from the message itself before the first rule. */
export function unguarded(text: string): string {
  return text.replace(guarded, '');
}

export function replacing(
  name: string,
  pattern: RegExp,
  replacement: string | ((...parts: string[]) => string),
  gate?: Rule['gate'],
): Rule {
  let ofAllWords: RegExp | undefined;
  return {
    name,
    gate,
    apply: (text, ascii) => {
      const searched = ascii ? pattern : (ofAllWords ??= withAllWords(pattern));
      return typeof replacement === 'string'
        ? text.replace(searched, replacement)
        : text.replace(searched, replacement);
    },
  };
}

/** A gate for messages that include one of the parts. A single part is by far the most common case. */
export function includes(first: string, ...others: string[]): (text: string) => boolean {
  if (others.length === 0) return (text) => text.includes(first);
  return (text) => text.includes(first) || others.some((part) => text.includes(part));
}

export const hasDigit = (text: string): boolean => /\d/.test(text);
