/**
 * Loads something that asks for the browser's language and throws where that is no language tag, such as `en-US@posix`: there it finds English
 * while it is loaded.
 */
export async function withLanguage<T>(load: () => Promise<T>): Promise<T> {
  if (isTag(navigator.language)) return load();
  Object.defineProperty(navigator, 'language', { configurable: true, value: 'en' });
  try {
    return await load();
  } finally {
    // The browser's own one is of the prototype.
    Reflect.deleteProperty(navigator, 'language');
  }
}

function isTag(language: string): boolean {
  try {
    Intl.getCanonicalLocales(language);
    return true;
  } catch {
    return false;
  }
}
