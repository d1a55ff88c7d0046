import nunjucks from 'nunjucks';

export default async () => nunjucks.renderString('Hello {{ name }}', { name: 'Ada' });
