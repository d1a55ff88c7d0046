/**
 * Loads a module that reads the browser's language and throws if it is not a valid language tag, such as `en-US@posix`: during loading it sees
 * English.
 */
export async function withLanguage<T>(load: () => Promise<T>): Promise<T> {
  if (isTag(navigator.language)) return load();
  Object.defineProperty(navigator, 'language', { configurable: true, value: 'en' });
  try {
    return await load();
  } finally {
    // The browser's own property is on the prototype.
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
