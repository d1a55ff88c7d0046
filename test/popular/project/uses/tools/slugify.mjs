import slugify from 'slugify';

export default async () => slugify('Grüße an alle', { lower: true });
