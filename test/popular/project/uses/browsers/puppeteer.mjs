import puppeteer from 'puppeteer';

export default async () =>
  puppeteer.launch({ executablePath: '/does/not/exist' }).then(
    () => 'launched',
    (error) => /not found|exist/i.test(error.message),
  );
