import { chromium } from 'playwright';

export default async () =>
  chromium.launch({ executablePath: '/does/not/exist' }).then(
    () => 'launched',
    (error) => /exist/i.test(error.message),
  );
