import Parser from 'rss-parser';

export default async () => {
  const feed = await new Parser().parseString(
    '<rss version="2.0"><channel><title>News</title></channel></rss>',
  );
  return feed.title;
};
