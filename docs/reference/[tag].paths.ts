import { referenceOf, tags } from '../.vitepress/reference.ts';

export default {
  paths: () => tags.map(({ slug, tag }) => ({ params: { tag: slug }, content: referenceOf(tag) })),
};
