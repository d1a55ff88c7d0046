import chromium from '@sparticuz/chromium';

/** The browser is a compressed file of the package. */
export default async () => [chromium.args.length > 5, (await chromium.executablePath()).endsWith('chromium')];
