import { optimize } from 'svgo';

export default async () =>
  optimize('<svg xmlns="http://www.w3.org/2000/svg"><!-- note --><g><rect width="4" height="2"/></g></svg>')
    .data;
