import { chromium, devices } from 'playwright-core';

export default async () => [
  devices['iPhone 12'].isMobile,
  await chromium.launch({ executablePath: '/does/not/exist' }).then(
    () => 'launched',
    (error) => /exist/i.test(error.message),
  ),
];
