import { Feed } from 'feed';

export default async () =>
  new Feed({ title: 'News', id: 'a', copyright: '', updated: new Date(0) }).rss2().includes('News');
