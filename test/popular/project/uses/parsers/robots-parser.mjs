import robotsParser from 'robots-parser';

export default async () =>
  robotsParser('https://a.b/robots.txt', 'User-agent: *\nDisallow: /x').isAllowed('https://a.b/x', 'bot');
