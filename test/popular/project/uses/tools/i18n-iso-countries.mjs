import countries from 'i18n-iso-countries';

/** Without a bundler it has all languages. */
export default async () => countries.getName('DE', 'fr');
